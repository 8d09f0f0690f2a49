"""A model field for credentials: JSON, encrypted with keys from the settings, so that backups do not contain them."""

import json

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.db import models


class UnreadableSecret(Exception):
    """The stored secret was encrypted with a key that RELEVANCY_CREDENTIALS_KEY no longer contains."""

    def __init__(self) -> None:
        super().__init__(
            "The stored credentials cannot be decrypted: RELEVANCY_CREDENTIALS_KEY no longer contains their key. "
            "Append the old key to it, or enter the credentials again."
        )


def _cipher() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.CREDENTIALS_KEYS])


class EncryptedJSONField(models.TextField[dict[str, str], dict[str, str]]):
    """A flat mapping of strings; an empty mapping is stored as an empty string. The first key encrypts, every key decrypts."""

    def get_prep_value(self, value: dict[str, str] | None) -> str:
        if not value:
            return ""
        return _cipher().encrypt(json.dumps(value, sort_keys=True).encode()).decode()

    def from_db_value(self, value: str | None, *_: object) -> dict[str, str]:
        if not value:
            return {}
        try:
            secrets: dict[str, str] = json.loads(_cipher().decrypt(value.encode()))
        except InvalidToken:
            raise UnreadableSecret from None
        return secrets

    def to_python(self, value: object) -> dict[str, str]:
        return value if isinstance(value, dict) else {}
