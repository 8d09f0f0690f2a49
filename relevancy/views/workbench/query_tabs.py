"""The tabs of an opened query."""

from collections.abc import Iterable
from dataclasses import dataclass

from relevancy import comparison, runs
from relevancy.views.requests import parse_number

from .query_detail import QueryDetail

RESULTS, UNRETRIEVED, BEST_ORDER, FIND = "results", "unretrieved", "best", "find"
EXPLAIN, REQUEST, NOTES = "explain", "request", "notes"
EDIT_NOTES = "edit"  # the tab of the notes with the form to edit them
ONLY_RATED = "rated"  # the tab of the results with rated documents only, those that were not returned included
LABELS = {
    RESULTS: "Results",
    UNRETRIEVED: "Not returned",
    BEST_ORDER: comparison.BEST_ORDER,
    FIND: "Find",
    EXPLAIN: "Explain",
    REQUEST: "Request",
    NOTES: "Notes",
}


@dataclass(frozen=True)
class QueryTab:
    """One tab. parameter: its value of `tab` in an address; empty for the first tab. count: of what it holds, if that is said."""

    name: str
    label: str
    parameter: str
    is_current: bool
    count: int = 0


def parse_tabs(values: Iterable[str]) -> dict[int, str]:
    """Returns the tabs that an address names as `tab=12-explain`: `{id of the case query: name}`."""
    pairs = (value.partition("-") for value in values)
    tab_names = {*LABELS, EDIT_NOTES, ONLY_RATED}
    return {parse_number(number): name for number, _, name in pairs if name in tab_names}


def query_tabs(case_query_id: int, detail: QueryDetail, current: str, *, can_search: bool) -> list[QueryTab]:
    """Returns the tabs that an opened query has.

    current: the name of the one that is shown. can_search: the user may send requests to the engine of the run.
    """
    names = [RESULTS, NOTES]
    if detail.ranking is not None:
        names = [RESULTS, REQUEST, NOTES]
    if detail.explanations is not None and detail.found is not None:
        can_explain = detail.explanations.have_column
        can_find = can_search and runs.engine_of(detail.found.run) is not None
        names = [
            RESULTS,
            *([] if detail.is_blind else [UNRETRIEVED, BEST_ORDER]),
            *([FIND] if can_find else []),
            *([EXPLAIN] if can_explain else []),
            REQUEST,
            NOTES,
        ]
    shown = {EDIT_NOTES: NOTES, ONLY_RATED: RESULTS}.get(current, current)
    return [
        QueryTab(
            name,
            LABELS[name],
            "" if name == RESULTS else f"{case_query_id}-{name}",
            name == (shown if shown in names else RESULTS),
            detail.unretrieved_count if name == UNRETRIEVED else 0,
        )
        for name in names
    ]
