"""Why a document does not match a query, in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from relevancy.engines.types import FailedClause

_WORDS = {
    "required": "Required, and does not match:",
    "prohibited": "Excluded, and matches:",
    "other": "The engine says:",
}
_WHOLE_QUERY = "No word or clause of the query matches."


@dataclass(frozen=True)
class FailureText:
    """A condition that the document does not meet: a sentence, and the clause in the syntax of the engine.

    matching, missing: the optional clauses that match, and those that do not, if too few do.
    """

    kind: str
    text: str
    clause: str
    matching: str = ""
    missing: str = ""


def failure_texts(failures: Sequence[FailedClause]) -> list[FailureText]:
    """Returns the conditions in words, in the order of the query."""
    return [_failure_text(failure) for failure in failures]


def _failure_text(failure: FailedClause) -> FailureText:
    if failure.kind == "minimum":
        matching, missing = (" · ".join(labels) for labels in (failure.matching, failure.missing))
        text = f"At least {failure.minimum} of the clauses must match{', and fewer do' if matching else ', and none does'}:"
        return FailureText(failure.kind, text, failure.clause, matching, missing)
    if not failure.clause:
        return FailureText(failure.kind, _WHOLE_QUERY, "")
    return FailureText(failure.kind, _WORDS[failure.kind], failure.clause)
