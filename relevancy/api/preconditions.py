"""Whether an object still is as a client has read it: the ETag of a GET, sent as If-Match with a change.

An ETag has two parts. The first names the state, which is what changes at the address change: If-Match compares it. The second names
the whole answer: If-None-Match compares both. So a new run does not refuse another name for the case.

See docs/decisions/0100.
"""

import hashlib
import re
from typing import Annotated

from django.http import HttpResponse
from ninja import Header

_ETAG = re.compile(r'(?:W/)?"([^"-]{1,32})-[0-9a-f]{32}"')

IfMatch = Annotated[
    str,
    Header("", alias="If-Match", description="The ETag of what you have read: 412 if it has been changed since."),
]


class PreconditionFailed(Exception):
    """The object is not in the state that If-Match names. The message is written for the user."""


def set_etag[T](response: HttpResponse, content: T, *, state: object) -> T:
    """Sets the ETag of an answer, and returns its content. state: a revision, or the values that can be changed."""
    response["ETag"] = f'"{_state_key(state)}-{_digest(content)}"'
    return content


def read_if_match(if_match: str) -> str | None:
    """Returns the part of an If-Match that names a state; None if any state will do. Raises `PreconditionFailed` if it is no ETag.

    A proxy that compresses answers marks their ETags as weak; they are accepted, because the compression does not change the state.
    """
    if if_match in ("", "*"):
        return None
    match = _ETAG.fullmatch(if_match)
    if match is None:
        raise PreconditionFailed("If-Match is not an ETag of this address. Read the object again, and send its ETag.")
    return match[1]


def check_if_match(if_match: str, *, state: object) -> None:
    """Raises `PreconditionFailed` unless If-Match names this state, or any. Call it after the object has been locked for the change.

    state: None if there is no such object; then every If-Match fails.
    """
    if state is None and if_match:
        raise PreconditionFailed("There is no such object to change. Send no If-Match to create it.")
    if read_if_match(if_match) not in (None, _state_key(state)):
        raise PreconditionFailed("The object has been changed since you read it. Read it again before you change it.")


def _state_key(state: object) -> str:
    return str(state) if isinstance(state, int) else _digest(state)


def _digest(values: object) -> str:
    return hashlib.md5(repr(values).encode(errors="backslashreplace"), usedforsecurity=False).hexdigest()
