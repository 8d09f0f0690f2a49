"""Where the judge model changed whose ratings count, as the history page says it."""

from collections.abc import Sequence
from dataclasses import dataclass

from relevancy import scores
from relevancy.judgments.judge_models import JudgeVersion
from relevancy.wording import counted


@dataclass(frozen=True)
class JudgeMark:
    """A judge model that began to answer. before: the number of the first run after that; None if there is none yet.

    is_change: whether another judge model, prompt or model answered before it. text: a sentence.
    """

    before: int | None
    is_change: bool
    text: str


def build_marks(versions: Sequence[JudgeVersion], runs: Sequence[scores.HistoryRun]) -> list[JudgeMark]:
    """Returns a mark for each version of a judge model, the earliest first. runs: by number."""
    marks = []
    for number, version in enumerate(versions):
        before = next((entry.run.number for entry in runs if entry.run.created_at > version.since), None)
        marks.append(JudgeMark(before, number > 0, _describe(version, before, is_change=number > 0)))
    return marks


def _describe(version: JudgeVersion, before: int | None, *, is_change: bool) -> str:
    when = f"before run {before}" if before is not None else "after the newest run"
    judge = f"“{version.judge}” (model {version.model}, prompt {version.prompt})"
    ratings = counted(version.ratings, "rating counts", "ratings count")
    if not is_change:
        return f"Judge model {judge}: {ratings}, the first one from {when}."
    return f"Another judge from {when} on, {judge}: {ratings}. Runs before and after it may differ by the judge."
