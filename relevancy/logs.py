"""The log: one line for each event, as text or JSON, with the id of the request that it belongs to.

No line above DEBUG contains a query, a rating or a secret: a request is described by its view and the ids in its address, because
some addresses contain tokens. Pages about errors show the id as a reference, and background tasks carry it on.
"""

import json
import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest

_request_id: ContextVar[str] = ContextVar("request_id", default="")


def request_id() -> str:
    """Returns the id of the request that is being answered, or that has enqueued the task; empty in commands."""
    return _request_id.get()


@contextmanager
def within_request(reference: str = "") -> Iterator[str]:
    """A context manager for what belongs to one request, whose id is in the lines that are logged in it. Returns the id.

    reference: of a request that began elsewhere; a new one by default.
    """
    token = _request_id.set(reference or secrets.token_hex(6))
    try:
        yield _request_id.get()
    finally:
        _request_id.reset(token)


def describe_request(request: HttpRequest) -> str:
    """Returns method, view and the numbers of an address: `POST rate query_id=7`. Texts in an address may be secret."""
    match = request.resolver_match
    if match is None:
        return f"{request.method} (no page)"
    numbers = [f"{name}={value}" for name, value in match.kwargs.items() if str(value).isdecimal()]
    return " ".join([str(request.method), match.view_name or "(no name)", *numbers])


class TextFormatter(logging.Formatter):
    """A line of text. The traceback of an unexpected error follows in further lines."""

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name}: {message}", style="{")

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = " ".join(record.message.splitlines())
        line = super().formatMessage(record)
        return f"{line} [{request_id()}]" if request_id() else line

    def format(self, record: logging.LogRecord) -> str:
        return super().format(_without_path(record))


class JSONFormatter(logging.Formatter):
    """A line of JSON: `time`, `level`, `logger`, `message`, `request_id`, the `fields` of the record, and `traceback`."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": _without_path(record).getMessage(),
            "request_id": request_id(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def _without_path(record: logging.LogRecord) -> logging.LogRecord:
    """Replaces the path in a line of Django about a request: it may contain the token of an invitation or a new password."""
    request = getattr(record, "request", None)
    if isinstance(request, HttpRequest) and isinstance(record.args, tuple):
        described = describe_request(request)
        record.args = tuple(described if value == request.path else value for value in record.args)
    return record
