"""Which judge models the ratings of a book are by, and since when: another judge, prompt or model is another rater."""

from collections.abc import Iterator

from django.db.models import Count, Exists, Min, OuterRef

from relevancy.hooks import HistoryMark
from relevancy.models import Rating
from relevancy.scores import RunHistory
from relevancy.wording import counted

from .models import JudgeAnswer


def mark_judges(history: RunHistory) -> Iterator[HistoryMark]:
    """Yields a mark for each version of a judge model whose answers count, as one model answered for it, the earliest first. A line in
    the chart stands where another one began. One SQL statement."""
    counting = Rating.objects.filter(
        query=OuterRef("query"), doc_id=OuterRef("doc_id"), rater__judge_model=OuterRef("judge")
    )
    answers = JudgeAnswer.objects.filter(
        Exists(counting), query__book=history.case.book, state=JudgeAnswer.State.RATED, answered_at__isnull=False
    )
    versions = (
        answers.order_by()
        .values_list("judge__name", "judge__prompt", "judge__model", "model")
        .annotate(since=Min("answered_at"), count=Count("pk"))
        .order_by("since", "judge__name", "model")
    )
    for number, (name, prompt, model, returned, since, count) in enumerate(versions):
        before = next((entry.run.number for entry in history.runs if entry.run.created_at > since), None)
        when = f"before run {before}" if before is not None else "after the newest run"
        judge = f"“{name}” (model {returned or model}, prompt {prompt})"
        ratings = counted(count, "rating counts", "ratings count")
        if number == 0:
            yield HistoryMark(f"Judge model {judge}: {ratings}, the first one from {when}.")
        else:
            differ = "Runs before and after it may differ by the judge."
            yield HistoryMark(f"Another judge from {when} on, {judge}: {ratings}. {differ}", "judge", before)
