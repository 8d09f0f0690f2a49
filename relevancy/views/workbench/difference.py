"""The difference between the run shown and its baseline, as the head of the page states it."""

from collections.abc import Sequence
from dataclasses import dataclass

from relevancy.scores import RunDifference
from relevancy.templatetags.addresses import run_url

from .run_selection import RunSelection


@dataclass(frozen=True)
class CountLink:
    """A number of queries, with the address of the list that shows them. state: the filter of the list."""

    state: str
    text: str
    url: str


@dataclass(frozen=True)
class DifferenceText:
    """A difference in words.

    value: points; None if there is no difference to show.
    text: what follows the value, or why there is none.
    is_being_rescored: whether there will be one soon.
    counts: how many queries are better, worse, the same, and scored in only one of the runs; all of them, so that nothing moves.
    changed: the queries that are scored in only one of the runs; empty if there are none.
    """

    value: float | None
    text: str
    is_being_rescored: bool
    counts: Sequence[CountLink]
    changed: Sequence[CountLink]


def describe_difference(selection: RunSelection, difference: RunDifference) -> DifferenceText:
    """Returns what the head says about a difference; its counts lead to the list of these queries."""
    baseline = difference.baseline.number
    if difference.pending:
        reason = "being rescored" if difference.can_be_rescored else "cannot be rescored: displayed fields were removed"
        return DifferenceText(None, f"vs run {baseline}: {reason}", difference.is_being_rescored, [], [])

    def link(state: str, count: int, words: str, sort: str = "difference") -> CountLink:
        url = run_url(difference.baseline.case, selection, "case", state=state, sort=sort)
        return CountLink(state, f"{count:,} {words}", url)

    changed = []
    if difference.no_longer_scored:
        changed.append(link("dropped", difference.no_longer_scored, "not scored any more", sort=""))
    if difference.newly_scored:
        changed.append(link("gained", difference.newly_scored, "newly scored", sort=""))
    return DifferenceText(
        difference.difference,
        f"vs run {baseline} on the same {difference.compared:,}"
        if difference.compared
        else f"vs run {baseline}: no query is scored in both",
        False,
        [
            link("better", difference.better, "better", sort="-difference"),
            link("worse", difference.worse, "worse"),
            link("same", difference.same, "the same", sort=""),
            link("changed", difference.changed_scored, "changed scored/unscored", sort=""),
        ],
        changed,
    )
