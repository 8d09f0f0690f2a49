"""A field for what must not be read in a backup: JSON, encrypted with keys from the settings."""

import json
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.db import models


class UnreadableSecret(Exception):
    """The stored secret was written with a key that is not among RELEVANCY_CREDENTIALS_KEY any more."""

    def __init__(self) -> None:
        super().__init__(
            "The stored credentials cannot be decrypted: their key is not among RELEVANCY_CREDENTIALS_KEY. "
            "Add the old key behind the new one, or enter the credentials again."
        )


def _box() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.CREDENTIALS_KEYS])


class EncryptedJSONField(models.TextField[dict[str, str], dict[str, str]]):
    """A flat mapping of strings; an empty one is stored as an empty text. The first key encrypts, all keys decrypt."""

    def get_prep_value(self, value: dict[str, str] | None) -> str:
        if not value:
            return ""
        return _box().encrypt(json.dumps(value, sort_keys=True).encode()).decode()

    def from_db_value(self, value: str | None, *_: Any) -> dict[str, str]:
        if not value:
            return {}
        try:
            found: dict[str, str] = json.loads(_box().decrypt(value.encode()))
        except InvalidToken:
            raise UnreadableSecret from None
        return found

    def to_python(self, value: Any) -> dict[str, str]:
        return value if isinstance(value, dict) else {}
