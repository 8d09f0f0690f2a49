"""The difference between the run shown and its baseline, as the head of the page states it."""

from collections.abc import Sequence
from dataclasses import dataclass

from relevancy.scores import RunDifference
from relevancy.templatetags.addresses import run_url

from .run_selection import RunSelection


@dataclass(frozen=True)
class DifferenceText:
    """A difference in words.

    value: points; None if there is no difference to show.
    text: what follows the value, or why there is none.
    is_being_rescored: whether there will be one soon.
    counts: how many queries are better, worse, the same, and scored in only one of the runs: the state that filters the list, the text,
        and the address of the list.
    """

    value: float | None
    text: str
    is_being_rescored: bool
    counts: Sequence[tuple[str, str, str]] = ()


def describe_difference(selection: RunSelection, difference: RunDifference) -> DifferenceText:
    """Returns what the head says about a difference; its counts lead to the list of these queries."""
    baseline = difference.baseline.number
    if difference.pending:
        reason = "being rescored" if difference.can_be_rescored else "cannot be rescored: displayed fields were removed"
        return DifferenceText(None, f"vs run {baseline}: {reason}", difference.is_being_rescored)
    counts = [
        ("better", difference.better, "better", "-difference"),
        ("worse", difference.worse, "worse", "difference"),
        ("same", difference.same, "the same", ""),
        ("dropped", difference.no_longer_scored, "not scored any more", ""),
        ("gained", difference.newly_scored, "newly scored", ""),
    ]
    compared = f" on the same {difference.compared:,}" if difference.compared else ": no query is scored in both"
    return DifferenceText(
        difference.difference,
        f"vs run {baseline}{compared}",
        is_being_rescored=False,
        counts=[
            (state, f"{count:,} {words}", run_url(difference.baseline.case, selection, "case", state=state, sort=sort))
            for state, count, words, sort in counts
            if count
        ],
    )
