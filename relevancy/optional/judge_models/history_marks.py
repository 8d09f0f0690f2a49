"""Which judge models the ratings of a book are by, and since when: another judge, prompt or model is another rater."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime

from django.db.models import Count, Exists, Min, OuterRef

from relevancy.hooks import HistoryMark
from relevancy.models import Rating
from relevancy.scores import RunHistory
from relevancy.wording import counted

from .models import JudgeAnswer, JudgeJob


def mark_judges(history: RunHistory) -> Iterator[HistoryMark]:
    """Yields a mark for each version of a judge model whose answers count, as one model answered for it with one text of instructions,
    the earliest first. A line in the chart stands where another one began. Two SQL statements; one without answers."""
    counting = Rating.objects.filter(
        query=OuterRef("query"), doc_id=OuterRef("doc_id"), rater__judge_model=OuterRef("judge")
    )
    answers = JudgeAnswer.objects.filter(
        Exists(counting), query__book=history.case.book, state=JudgeAnswer.State.RATED, answered_at__isnull=False
    )
    rows = list(
        answers.order_by()
        .values_list("judge__name", "judge__prompt", "judge__model", "model", "job")
        .annotate(since=Min("answered_at"), count=Count("pk"))
        .order_by("since", "judge__name", "model")
    )
    jobs = JudgeJob.objects.filter(pk__in={row[4] for row in rows})
    texts = dict(jobs.values_list("pk", "instructions")) if rows else {}
    versions: dict[tuple[str, str, str, str], tuple[datetime, int]] = {}
    for name, prompt, model, returned, job_id, since, count in rows:
        key = name, prompt, returned or model, texts[job_id]
        first, earlier = versions.get(key, (since, 0))
        versions[key] = first, earlier + count
    known: dict[str, list[str]] = defaultdict(list)  # the texts of a judge model, in their order
    for position, ((name, prompt, model, text), (since, count)) in enumerate(versions.items()):
        if text not in known[name]:
            known[name].append(text)
        number = known[name].index(text) + 1
        edited = f", instructions {number}" if number > 1 else ""
        before = next((entry.run.number for entry in history.runs if entry.run.created_at > since), None)
        when = f"before run {before}" if before is not None else "after the newest run"
        judge = f"“{name}” (model {model}, prompt {prompt}{edited})"
        ratings = counted(count, "rating counts", "ratings count")
        if position == 0:
            yield HistoryMark(f"Judge model {judge}: {ratings}, the first one from {when}.")
        else:
            differ = "Runs before and after it may differ by the judge."
            yield HistoryMark(f"Another judge from {when} on, {judge}: {ratings}. {differ}", "judge", before)
