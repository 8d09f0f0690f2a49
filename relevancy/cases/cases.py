"""Cases: created, renamed, shared and archived."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from relevancy import activity, scoring
from relevancy.models import Activity, Book, Case, Scorer, Team, User
from relevancy.models.saving import clean_and_save
from relevancy.scorers import choose_scorers, default_scorer, newest_version


def create(
    *,
    name: str,
    owner: User,
    scorers: Sequence[Scorer] = (),
    scale: Sequence[Sequence[Any]] | None = None,
    book: Book | None = None,
) -> Case:
    """Creates a case, and its book unless `book` is given.

    scorers: the primary one first; none for the owner's default scorer.
    scale: `[[grade, label], …]` of the new book; None takes that of the primary scorer.
    Raises `ValidationError` naming the field.
    """
    chosen = list(scorers) or [default_scorer(owner)]
    with transaction.atomic():
        if book is None:
            book = build_book(name=name, owner=owner, scorers=chosen, scale=scale)
            clean_and_save(book)
        case = Case(name=name, book=book, owner=owner)
        clean_and_save(case)
        activity.record(Activity.Verb.CASE_CREATED, case=case, by=owner, subject=case, object_id=case.pk)
        choose_scorers(case=case, scorers=chosen, by=owner)
    return case


def build_book(
    *, name: str, owner: User, scorers: Sequence[Scorer] = (), scale: Sequence[Sequence[Any]] | None = None
) -> Book:
    """Returns the book of a case that does not exist yet, not saved; the arguments are those of `create`."""
    grades = list(scale or newest_version(scorers[0] if scorers else default_scorer(owner)).scale)
    relevant_from = scoring.Scale(tuple(float(grade) for grade, _ in grades)).relevant_from
    return Book(name=name, owner=owner, scale=grades, relevant_from=relevant_from)


def rename(*, case: Case, name: str, by: User | None = None) -> None:
    """Changes the name of the case; its book keeps its name. Raises `ValidationError`."""
    former = case.name
    with transaction.atomic():
        clean_and_save(case, name=name)
        if case.name != former:
            activity.record(
                Activity.Verb.CASE_RENAMED, case=case, by=by, subject=case, object_id=case.pk, former=former
            )


def share(*, case: Case, team: Team, by: User | None = None) -> None:
    """Shares the case with a team, whose members get access by their role there; its book and endpoints go with it."""
    with transaction.atomic():
        case.teams.add(team)
        case.book.teams.add(team)
        _record(Activity.Verb.CASE_SHARED, case, by, team)


def unshare(*, case: Case, team: Team, by: User | None = None) -> None:
    """Stops sharing the case with a team; the book too, unless another of its cases is shared with the team."""
    with transaction.atomic():
        case.teams.remove(team)
        if not case.book.cases.filter(teams=team).exists():
            case.book.teams.remove(team)
        _record(Activity.Verb.CASE_UNSHARED, case, by, team)


def archive(*, case: Case, by: User | None = None) -> None:
    """Hides the case; nothing is deleted. `restore` undoes it."""
    case.archived_at = timezone.now()
    with transaction.atomic():
        case.save(update_fields=["archived_at"])
        _record(Activity.Verb.CASE_ARCHIVED, case, by)


def restore(*, case: Case, by: User | None = None) -> None:
    """Shows an archived case again."""
    case.archived_at = None
    with transaction.atomic():
        case.save(update_fields=["archived_at"])
        _record(Activity.Verb.CASE_RESTORED, case, by)


def _record(verb: Activity.Verb, case: Case, by: User | None, team: Team | None = None) -> None:
    shared_with: dict[str, Any] = {"team": team, "team_name": team.name} if team else {}
    activity.record(verb, case=case, by=by, subject=case, object_id=case.pk, **shared_with)
