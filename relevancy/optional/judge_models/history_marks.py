"""Which judge models the ratings of a book are by, and since when: another judge, prompt or model is another rater."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, Min, OuterRef

from relevancy.hooks import HistoryMark
from relevancy.models import Book, Rating
from relevancy.scores import RunHistory
from relevancy.wording import counted

from .models import JudgeAnswer


@dataclass(frozen=True)
class JudgeVersion:
    """A judge model as one model answered for it.

    judge: its name. prompt: the key of its prompt, with the version. model: the name that the server returned; that of the settings
    if it returned none. since: when the first of the answers arrived. ratings: how many of the answers count as ratings.
    """

    judge: str
    prompt: str
    model: str
    since: datetime
    ratings: int


def read_judge_versions(book: Book) -> list[JudgeVersion]:
    """Returns the versions of judge models whose answers count in a book, the earliest first. One SQL statement."""
    counting = Rating.objects.filter(
        query=OuterRef("query"), doc_id=OuterRef("doc_id"), rater__judge_model=OuterRef("judge")
    )
    answers = JudgeAnswer.objects.filter(query__book=book, state=JudgeAnswer.State.RATED, answered_at__isnull=False)
    rows = (
        answers.filter(Exists(counting))
        .order_by()
        .values_list("judge__name", "judge__prompt", "judge__model", "model")
        .annotate(since=Min("answered_at"), count=Count("pk"))
        .order_by("since", "judge__name", "model")
    )
    return [
        JudgeVersion(name, prompt, returned or model, since, count)
        for name, prompt, model, returned, since, count in rows
    ]


def mark_judges(history: RunHistory) -> Iterator[HistoryMark]:
    """Yields a mark for each version of a judge model, the earliest first. A line in the chart stands where another one began."""
    for number, version in enumerate(read_judge_versions(history.case.book)):
        before = next((entry.run.number for entry in history.runs if entry.run.created_at > version.since), None)
        when = f"before run {before}" if before is not None else "after the newest run"
        judge = f"“{version.judge}” (model {version.model}, prompt {version.prompt})"
        ratings = counted(version.ratings, "rating counts", "ratings count")
        if number == 0:
            yield HistoryMark(f"Judge model {judge}: {ratings}, the first one from {when}.")
        else:
            differ = "Runs before and after it may differ by the judge."
            yield HistoryMark(f"Another judge from {when} on, {judge}: {ratings}. {differ}", "judge", before)
