"""Service: accounts. Signing in is limited per account, address and browser, and so is the hashing of passwords.
Programs sign in with tokens. Raters that are named in a file get a row too, but cannot sign in.
"""

from . import api_tokens
from .backend import LimitedBackend
from .browsers import remember_browser
from .hashing import HashingBusy, LimitedHasher, MaximumLengthValidator
from .limits import TOO_MANY
from .raters import ensure_raters, known_raters

__all__ = [
    "TOO_MANY",
    "HashingBusy",
    "LimitedBackend",
    "LimitedHasher",
    "MaximumLengthValidator",
    "api_tokens",
    "ensure_raters",
    "known_raters",
    "remember_browser",
]
