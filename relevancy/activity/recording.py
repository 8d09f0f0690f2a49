"""Writes the activity log. Services call it in the transaction of the change, so that the log has what happened and nothing else.

See docs/decisions/0127.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.utils import timezone

from relevancy.models import Activity, Book, Case, Team, User

MAX_TEXT = 200  # characters of a subject and of each detail
REPEATED_WITHIN = timedelta(hours=1)

type Detail = str | int | float


def record(
    verb: str,
    *,
    by: User | None,
    case: Case | int | None = None,
    team: Team | int | None = None,
    subject: object = "",
    object_id: int | None = None,
    person: User | None = None,
    **details: Detail,
) -> None:
    """Adds a line to the log of a case, a team or both. One SQL statement.

    by: who did it; None for the server. subject: the name of what was changed. details: values of the sentence of the verb.
    """
    _build(verb, by, case, team, subject, object_id, person, details).save(force_insert=True)


def record_once(verb: str, *, by: User | None, case: Case) -> None:
    """Adds a line to the log of a case, unless its last line says the same and is less than an hour old. Two SQL statements."""
    last = Activity.objects.filter(case=case).order_by("-at", "-pk").values_list("verb", "by", "at").first()
    since = timezone.now() - REPEATED_WITHIN
    if last is None or last[:2] != (verb, by.pk if by else None) or last[2] < since:
        record(verb, by=by, case=case)


def record_for_book(
    verb: str,
    *,
    book: Book,
    by: User | None,
    subject: object = "",
    person: User | None = None,
    **details: Detail,
) -> None:
    """Adds a line to the log of each case that uses a book. Two SQL statements."""
    case_ids = Case.objects.filter(book=book.pk).order_by("pk").values_list("pk", flat=True)
    Activity.objects.bulk_create(
        _build(verb, by, pk, None, subject or book.name, book.pk, person, details) for pk in case_ids
    )


def record_for_teams(
    verb: str,
    *,
    teams: Iterable[Team],
    by: User | None,
    subject: object = "",
    object_id: int | None = None,
    **details: Detail,
) -> None:
    """Adds a line to the log of each team. One SQL statement if there is a team."""
    Activity.objects.bulk_create(_build(verb, by, None, team, subject, object_id, None, details) for team in teams)


def _build(
    verb: str,
    by: User | None,
    case: Case | int | None,
    team: Team | int | None,
    subject: object,
    object_id: int | None,
    person: User | None,
    details: dict[str, Any],
) -> Activity:
    return Activity(
        verb=verb,
        by=by,
        case_id=case.pk if isinstance(case, Case) else case,
        team_id=team.pk if isinstance(team, Team) else team,
        subject=_shortened(str(subject)),
        object_id=object_id,
        person=person,
        details={name: _shortened(value) if isinstance(value, str) else value for name, value in details.items()},
    )


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"
