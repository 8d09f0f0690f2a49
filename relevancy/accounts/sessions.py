"""Sessions of signed-in users: stored with their user, listed, and ended from elsewhere. This module is the session engine."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseSessionStore
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from relevancy.models import User, UserSession, compiled

from .limits import client_address

CLIENT = "client"  # the key of a session that says where it began
# In this order: Edge and Chrome also call themselves Chrome and Safari.
BROWSERS = (("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


class SessionStore(DatabaseSessionStore):
    """Django's sessions in the database, each with its user."""

    @classmethod
    def get_model_class(cls) -> type[UserSession]:
        return UserSession

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        session: Any = super().create_model_instance(data)
        pk = str(data.get(SESSION_KEY, ""))
        session.user_id = int(pk) if pk.isdecimal() else None
        return session

    def _get_session_from_db(self) -> UserSession | None:
        """Django's method, which every request calls, by a statement whose SQL is built once."""
        for session in _of_key(self.session_key or ""):
            if session.expire_date > timezone.now():
                return session
        self._session_key = None
        return None


@compiled
def _of_key(key: str) -> QuerySet[UserSession]:
    return UserSession.objects.filter(pk=key)


@dataclass(frozen=True)
class SignedInSession:
    """A session as the account page lists it.

    reference: names the session in a form. It is a digest of the key and cannot be used to sign in.
    signed_in_at: None if the session does not say.
    """

    key: str
    client: str
    address: str
    signed_in_at: datetime | None

    @property
    def reference(self) -> str:
        return hashlib.sha256(self.key.encode()).hexdigest()[:32]


def describe(request: HttpRequest) -> None:
    """Stores in the session of a request where and when its user signed in, such as with “Firefox on Linux”."""
    user_agent = request.headers.get("User-Agent", "")
    browser = next((name for sign, name in BROWSERS if sign in user_agent), "")
    system = next((name for sign, name in SYSTEMS if re.search(rf"\b{sign}\b", user_agent)), "")
    request.session[CLIENT] = {
        "client": " on ".join(name for name in (browser, system) if name),
        "address": client_address(request),
        "at": timezone.now().timestamp(),
    }


def current(user: User) -> list[SignedInSession]:
    """Returns the sessions in which the user is signed in, the newest first. One SQL statement."""
    return sorted(
        _valid(user), key=lambda session: session.signed_in_at or datetime.min.replace(tzinfo=UTC), reverse=True
    )


def end(*, user: User, reference: str) -> bool:
    """Signs the user out of one session. Returns whether there was such a session."""
    keys = [session.key for session in _valid(user) if session.reference == reference]
    return bool(UserSession.objects.filter(user=user, pk__in=keys).delete()[0])


def end_all(*, user: User, keep: str | None = None) -> int:
    """Signs the user out everywhere but in the session with the key `keep`. Returns of how many sessions."""
    return UserSession.objects.filter(user=user).exclude(pk=keep or "").delete()[0]


def _valid(user: User) -> Iterator[SignedInSession]:
    # A session ends with the password that it began with, but its row stays until the browser sends another request.
    for row in UserSession.objects.filter(user=user, expire_date__gt=timezone.now()):
        data = row.get_decoded()
        if constant_time_compare(data.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash()):
            client = data.get(CLIENT, {})
            at = client.get("at")
            yield SignedInSession(
                key=row.pk,
                client=client.get("client", ""),
                address=client.get("address", ""),
                signed_in_at=None if at is None else datetime.fromtimestamp(at, UTC),
            )
