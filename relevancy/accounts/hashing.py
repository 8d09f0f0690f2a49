"""Hashing passwords takes a processor for half a second, so only a few requests do it at the same time."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher, PBKDF2PasswordHasher
from django.core.exceptions import ValidationError

MAX_LENGTH = 1024  # characters of a password
MAX_WAIT = 5.0  # seconds

_ADMITTED = BoundedSemaphore(max(1, settings.WEB_THREADS // 2))
_HASHING = BoundedSemaphore(max(1, settings.WEB_THREADS // 4))


class HashingBusy(Exception):
    """Too many passwords are being checked at the same time. The message is written for the user."""

    def __init__(self) -> None:
        super().__init__("Many users are signing in at the moment. Try again in a few seconds.")


@contextmanager
def _limited() -> Iterator[None]:
    """At most a quarter of the web threads hash, and at most another quarter waits for them. Raises `HashingBusy` for more."""
    if not _ADMITTED.acquire(blocking=False):
        raise HashingBusy
    try:
        if not _HASHING.acquire(timeout=MAX_WAIT):
            raise HashingBusy
        try:
            yield
        finally:
            _HASHING.release()
    finally:
        _ADMITTED.release()


class LimitedArgon2Hasher(Argon2PasswordHasher):
    """Argon2id with the second recommended parameters of RFC 9106, section 4: 64 MiB, three passes, four lanes."""

    time_cost = 3
    memory_cost = 65536  # KiB
    parallelism = 4

    def encode(self, password: str, salt: str) -> str:
        with _limited():
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        with _limited():
            return super().verify(password, encoded)


class LimitedHasher(PBKDF2PasswordHasher):
    """For passwords that were set before Argon2 was used: Django hashes them again when their users sign in."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        with _limited():
            return super().encode(password, salt, iterations)


class MaximumLengthValidator:
    """Refuses a password that would never be checked, because it is too long."""

    def validate(self, password: str, user: Any = None) -> None:
        """Raises `ValidationError`."""
        if len(password) > MAX_LENGTH:
            raise ValidationError(
                f"This password has {len(password):,} characters; the maximum is {MAX_LENGTH:,}.", code="too_long"
            )

    def get_help_text(self) -> str:
        return f"Your password can have at most {MAX_LENGTH:,} characters."
