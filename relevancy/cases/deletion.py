"""Deleting a case for good, in short transactions, because on SQLite ratings of other cases wait for each of them.

See docs/decisions/0091.
"""

from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from relevancy import activity, books, hooks, ratings, runs
from relevancy.models import (
    Activity,
    Attempt,
    Book,
    Case,
    CaseScore,
    Endpoint,
    QueryScore,
    Ranking,
    Rating,
    Run,
    RunComparison,
    Scorer,
    User,
)


@dataclass(frozen=True)
class Losses:
    """What is lost with a case: the numbers of its queries, attempts, runs and annotations, and the names of its own scorers.

    app_losses: what optional apps lose. ratings: of its book. other_cases: names of the other cases that use this book, which keeps
    them. can_delete_book: whether the user may delete the book too.
    """

    queries: int
    attempts: int
    runs: int
    annotations: int
    scorers: tuple[str, ...]
    app_losses: tuple[hooks.Loss, ...]
    ratings: int
    other_cases: tuple[str, ...]
    can_delete_book: bool


def losses(*, case: Case, by: User) -> Losses:
    """Returns what would be lost if `by` deleted the case."""
    other_cases = tuple(_other_cases(case).values_list("name", flat=True))
    return Losses(
        queries=case.case_queries.present().count(),
        attempts=case.attempts.count(),
        runs=case.runs.count(),
        annotations=case.annotations.filter(removed_at=None).count(),
        scorers=tuple(Scorer.objects.filter(only_for=case).order_by("name").values_list("name", flat=True)),
        app_losses=tuple(loss for added in hooks.case_losses(case, by) for loss in added),
        ratings=Rating.objects.filter(query__book=case.book_id).count(),
        other_cases=other_cases,
        can_delete_book=not other_cases and _owns_book(case, by),
    )


def delete(*, case: Case, by: User, with_book: bool = False) -> None:
    """Deletes a case with its runs, scores, attempts and the scorers made for it; `with_book` also its book with all ratings.

    If it is interrupted, the case is archived and can be deleted again, or is gone and its book can be deleted on its own. Raises
    `ValidationError` while a run is active, or if the book is used by another case or does not belong to `by`; then nothing is
    deleted.
    """
    with transaction.atomic():
        _check(case, by, with_book)
        Case.objects.filter(pk=case.pk, archived_at=None).update(archived_at=timezone.now())
    for run in case.runs.order_by("number").only("pk"):
        _delete_results(run)
    with transaction.atomic():
        _check(case, by, with_book)
        for run in case.runs.only("pk"):
            _delete_results(run)
        Attempt.objects.filter(case=case).update(parent=None)
        for team in case.teams.all():
            activity.record(Activity.Verb.CASE_DELETED, team=team, by=by, subject=case, object_id=case.pk)
        case.case_scorers.all().delete()
        Scorer.objects.filter(only_for=case).delete()
        book = case.book
        endpoints = list(Endpoint.objects.filter(attempts__case=case).distinct().values_list("pk", flat=True))
        case.delete()
    for endpoint in endpoints:
        runs.clean_documents(endpoint)
    if with_book:
        books.delete_book(book=book, by=by)


def _check(case: Case, by: User, with_book: bool) -> None:
    """Locks the case, so that no run begins."""
    Case.objects.select_for_update().get(pk=case.pk)
    if active := case.runs.active().first():
        raise ValidationError(f"Run {active.number} is still {active.status}. Stop it, or wait until it is finished.")
    if not with_book:
        return
    if not _owns_book(case, by):
        raise ValidationError(f"You need the role Owner on the book “{case.book}” to delete it. Delete the case only.")
    if _other_cases(case).exists():
        raise ValidationError(f"The book “{case.book}” is used by other cases. Delete the case only.")
    ratings.check_open(book=case.book_id, advice="Delete it")


def _owns_book(case: Case, by: User) -> bool:
    return bool(Book.objects.owned_by(by).filter(pk=case.book_id).exists())


def _other_cases(case: Case) -> QuerySet[Case]:
    others: QuerySet[Case] = Case.objects.filter(book=case.book_id).exclude(pk=case.pk).order_by("name")
    return others


def _delete_results(run: Run) -> None:
    """Deletes a run with what it returned, bottom up: each statement finds its rows by an index."""
    with transaction.atomic():
        QueryScore.objects.filter(run=run).delete()
        CaseScore.objects.filter(run=run).delete()
        RunComparison.objects.filter(run=run).delete()
        RunComparison.objects.filter(baseline=run).delete()
        Ranking.objects.filter(run=run).delete()
        run.delete()
