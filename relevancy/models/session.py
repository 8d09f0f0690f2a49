"""Sessions of browsers, each with the user who is signed in."""

from __future__ import annotations

from django.conf import settings
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.utils.module_loading import import_string


class UserSession(AbstractBaseSession):
    """A session, with its user as a column, so that the sessions of a user can be listed and ended.

    The key of a session is all that is needed to use it: no page shows it.
    user: None if no user is signed in.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="sessions"
    )

    class Meta(AbstractBaseSession.Meta):
        db_table = "relevancy_usersession"

    def __str__(self) -> str:
        return f"Session of {self.user or 'an anonymous user'}"

    @classmethod
    def get_session_store_class(cls) -> type:
        """The engine that reads and writes these rows."""
        engine: type = import_string(f"{settings.SESSION_ENGINE}.SessionStore")
        return engine
