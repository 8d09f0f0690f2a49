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
    owner = {"case_id": getattr(case, "pk", case), "team_id": getattr(team, "pk", team)}
    _build(verb, subject, details, **owner, by=by, object_id=object_id, person=person).save(force_insert=True)


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
        _build(verb, subject or book.name, details, case_id=pk, by=by, object_id=book.pk, person=person)
        for pk in case_ids
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
    Activity.objects.bulk_create(
        _build(verb, subject, details, team=team, by=by, object_id=object_id) for team in teams
    )


def _build(verb: str, subject: object, details: dict[str, Any], **columns: Any) -> Activity:
    return Activity(
        verb=verb,
        subject=_shortened(str(subject)),
        details={name: _shortened(value) if isinstance(value, str) else value for name, value in details.items()},
        **columns,
    )


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"
