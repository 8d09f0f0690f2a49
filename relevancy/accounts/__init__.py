"""Service: accounts. Signing in is limited per account, address and browser, and so is the hashing of passwords.
Programs sign in with tokens. Raters that are named in a file get a row too, but cannot sign in.

See docs/decisions/0111.
"""

from . import api_tokens, deletion, passwords, sessions
from .backend import LimitedBackend
from .browsers import remember_browser
from .hashing import HashingBusy, LimitedArgon2Hasher, LimitedHasher, MaximumLengthValidator
from .limits import TOO_MANY, client_address, count_request
from .proofs import required_proof
from .raters import delete_unused_raters, ensure_machine, ensure_raters, find_raters, known_people, known_raters
from .sign_up import sign_up

__all__ = [
    "TOO_MANY",
    "HashingBusy",
    "LimitedArgon2Hasher",
    "LimitedBackend",
    "LimitedHasher",
    "MaximumLengthValidator",
    "api_tokens",
    "client_address",
    "count_request",
    "delete_unused_raters",
    "deletion",
    "ensure_machine",
    "ensure_raters",
    "find_raters",
    "known_people",
    "known_raters",
    "passwords",
    "remember_browser",
    "required_proof",
    "sessions",
    "sign_up",
]
