"""Which judge models the ratings of a book are by, and since when: another judge, prompt or model is another rater."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, Min, OuterRef

from relevancy.models import Book, JudgeAnswer, Rating


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
