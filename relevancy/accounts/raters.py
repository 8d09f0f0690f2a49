"""Raters that are named in a file: people who have an account here, and raters that cannot sign in."""

import hashlib
from collections.abc import Collection
from contextlib import suppress
from itertools import batched

from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.db.models import ProtectedError, Q, QuerySet

from relevancy.models import Rating, RatingChange, User
from relevancy.models.text import normalize_line, validate_line

BATCH = 500
DOMAIN = "raters.invalid"  # reserved by RFC 2606, so that nobody can receive a message there


def known_raters(names: Collection[str], *, by: User) -> dict[str, User]:
    """Returns `{name: user}` for the names in a file that are e-mail addresses of people `by` knows.

    These are `by` and the members of the same teams, and all people for an admin: a file must not tell others who has an account.
    """
    emails = {name.lower() for name in names if "@" in name and name.isascii()}
    users = {user.email.lower(): user for user in known_people(by=by).filter(email__in=emails)}
    return {name: users[name.lower()] for name in names if name.isascii() and name.lower() in users}


def find_raters(names: Collection[str], *, by: User) -> dict[str, User]:
    """Returns `{name: user}` as `ensure_raters` does, for the raters that are here already. Creates none."""
    raters = known_raters(names, by=by)
    emails = {name: _email(name) for name in names if name not in raters}
    for batch in batched(emails.items(), BATCH):
        files = User.objects.filter(email__in={email for _, email in batch}, kind=User.Kind.FILE)
        present = {user.email: user for user in files}
        raters |= {name: present[email] for name, email in batch if email in present}
    return raters


def ensure_raters(names: Collection[str], *, by: User) -> dict[str, User]:
    """Returns `{name: user}` for the raters of a file. Creates those that are not known as raters that cannot sign in.

    A rater of the same name, in any case, is used again. Raises `ValidationError` for a name that cannot be stored.
    """
    raters = find_raters(names, by=by)
    missing = [name for name in names if name not in raters]
    new = {_email(name): User(name=_clean(name), kind=User.Kind.FILE, is_active=False) for name in missing}
    for email, user in new.items():
        user.email, user.password = email, make_password(None)
    User.objects.bulk_create(new.values(), batch_size=BATCH, ignore_conflicts=True)
    # Read again: another transaction may have created some of them, and conflicts are created without an id.
    return raters | find_raters(missing, by=by)


def ensure_machine(name: str) -> User:
    """Returns the rater of this name that is not a person, one on a site. Creates it if it is missing. name: of ASCII letters."""
    values = {"name": name, "kind": User.Kind.MACHINE, "is_active": False, "password": make_password(None)}
    return User.objects.get_or_create(email=f"{name}@{DOMAIN}", defaults=values)[0]


def delete_unused_raters(ids: Collection[int]) -> None:
    """Deletes those of these raters that cannot sign in and have rated nothing, because an import failed. Call it in a transaction."""
    created = User.objects.filter(pk__in=ids, kind=User.Kind.FILE).order_by("pk")
    # Another import may be about to count: what it has written is seen once its locks are gone.
    list(created.select_for_update().values_list("pk"))
    used: set[int] = set()
    for model in (Rating, RatingChange):
        used |= set(model.objects.filter(rater__in=ids).order_by().values_list("rater_id", flat=True).distinct())
    with suppress(ProtectedError):
        created.exclude(pk__in=used).delete()


def known_people(*, by: User) -> QuerySet[User]:
    """Returns the people that `by` may learn of: `by` and the members of the same teams; for an admin, all people."""
    people = User.objects.filter(kind=User.Kind.PERSON)
    if by.is_superuser:
        return people
    teams = by.memberships.values("team")
    return people.filter(Q(pk=by.pk) | Q(pk__in=User.objects.filter(memberships__team__in=teams).values("pk")))


def _email(name: str) -> str:
    """Returns the address that makes a rater unique. Nobody can sign up or be invited with it."""
    return f"{hashlib.sha256(name.lower().encode()).hexdigest()[:32]}@{DOMAIN}"


def _clean(name: str) -> str:
    name = normalize_line(name)[:120]
    try:
        validate_line(name)
    except ValidationError as error:
        raise ValidationError(f"The rater {name!r}: {' '.join(error.messages)}") from None
    return name
