"""What scoring a ranking returns."""

from __future__ import annotations

from dataclasses import dataclass

MAX_ERROR_LENGTH = 500


@dataclass(frozen=True)
class RankingScore:
    """The scores of a ranking under a scorer.

    value: as the measure defines it.
    score, low, high, ideal: 0 to 100; None if the query is not scoreable, or if the scorer does not provide it.
    unrated: number of unrated documents among those considered.
    error: why the ranking could not be scored; empty if it could.
    error_kind: why a script was stopped, see `sandbox.Outcome.stopped`; empty for other errors.
    line: the line of the script that failed.
    console: what the script wrote to its console, if requested.
    """

    value: float | None = None
    score: float | None = None
    low: float | None = None
    high: float | None = None
    ideal: float | None = None
    unrated: int = 0
    error: str = ""
    error_kind: str = ""
    line: int | None = None
    console: tuple[str, ...] = ()
