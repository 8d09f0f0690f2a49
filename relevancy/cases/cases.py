"""Cases: created, renamed, shared and archived."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from relevancy import scoring
from relevancy.models import Book, Case, Scorer, Team, User
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
        choose_scorers(case=case, scorers=chosen)
    return case


def build_book(
    *, name: str, owner: User, scorers: Sequence[Scorer] = (), scale: Sequence[Sequence[Any]] | None = None
) -> Book:
    """Returns the book of a case that does not exist yet, not saved; the arguments are those of `create`."""
    grades = list(scale or newest_version(scorers[0] if scorers else default_scorer(owner)).scale)
    relevant_from = scoring.Scale(tuple(float(grade) for grade, _ in grades)).relevant_from
    return Book(name=name, owner=owner, scale=grades, relevant_from=relevant_from)


def rename(*, case: Case, name: str) -> None:
    """Changes the name of the case; its book keeps its name. Raises `ValidationError`."""
    clean_and_save(case, name=name)


def share(*, case: Case, team: Team) -> None:
    """Shares the case with a team, whose members get access by their role there; its book and endpoints go with it."""
    with transaction.atomic():
        case.teams.add(team)
        case.book.teams.add(team)


def unshare(*, case: Case, team: Team) -> None:
    """Stops sharing the case with a team; the book too, unless another of its cases is shared with the team."""
    with transaction.atomic():
        case.teams.remove(team)
        if not case.book.cases.filter(teams=team).exists():
            case.book.teams.remove(team)


def archive(*, case: Case) -> None:
    """Hides the case; nothing is deleted. `restore` undoes it."""
    case.archived_at = timezone.now()
    case.save(update_fields=["archived_at"])


def restore(*, case: Case) -> None:
    """Shows an archived case again."""
    case.archived_at = None
    case.save(update_fields=["archived_at"])
