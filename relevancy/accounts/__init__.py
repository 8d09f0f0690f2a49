"""Service: accounts. Signing in is limited per account, address and browser, and so is the hashing of passwords.
Programs sign in with tokens."""

from . import api_tokens
from .backend import LimitedBackend
from .browsers import remember_browser
from .hashing import HashingBusy, LimitedHasher, MaximumLengthValidator
from .limits import TOO_MANY

__all__ = [
    "TOO_MANY",
    "HashingBusy",
    "LimitedBackend",
    "LimitedHasher",
    "MaximumLengthValidator",
    "api_tokens",
    "remember_browser",
]
