"""Checks passwords for the sign-in page and the admin site, within limits."""

from typing import Any

from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.http import HttpRequest

from relevancy.models import User

from . import limits
from .browsers import known_browser
from .hashing import MAX_LENGTH


class LimitedBackend(ModelBackend):
    """Django's backend, with the limits of `limits`."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> User | None:
        """Returns the user. Raises `ValidationError`, which both sign-in forms show, and `HashingBusy`.

        Without a request (a command, a test) there are no limits. Returns None where users sign in with the provider only.
        """
        if not settings.PASSWORD_SIGN_IN:
            return None
        if username is None:
            username = kwargs.get(User.USERNAME_FIELD)
        if username is None or password is None:
            return None
        if request is None:
            return super().authenticate(request, username, password)  # type: ignore[return-value]
        counters = limits.counters(
            account=username, address=limits.client_address(request), browser=known_browser(request, username)
        )
        limits.check(counters)
        user = super().authenticate(request, username, password) if len(password) <= MAX_LENGTH else None
        if user is None:
            limits.count_failure(counters)
        return user  # type: ignore[return-value]

    def get_user(self, user_id: int) -> User | None:
        """Returns the user of a session, with what every page asks about."""
        user = User.objects.read_for_request(user_id)
        return user if user is not None and self.user_can_authenticate(user) else None
