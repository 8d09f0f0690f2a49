"""Reading what came back: nothing an endpoint sends is trusted to be whole, small, JSON, or an answer at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from .errors import BadQuery, EndpointRefused, EndpointUnreachable, EngineError, TooSlow, UnreadableAnswer

MEGABYTE = 1024 * 1024
MAX_BYTES = 20 * MEGABYTE
_DEEPEST_TREE = 100

_TAGS = re.compile(r"<(script|style)\b.*?</\1\s*>|<[^>]*>", re.IGNORECASE | re.DOTALL)
# Lone surrogates and NUL are legal in JSON and break databases: PostgreSQL's jsonb takes neither.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_MENTIONS_UNSTORABLE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


class Answer(NamedTuple):
    """A whole answer. Header names are lower case; `body` is decompressed."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class SafeDecoder(json.JSONDecoder):
    """JSON of an engine. NaN and infinities become null, NUL and lone surrogates U+FFFD. Raises `ValueError` only."""

    def __init__(self) -> None:
        super().__init__(parse_constant=lambda name: None)

    def decode(self, text: str, *args: Any) -> Any:
        """Any JSON value."""
        try:
            value = super().decode(text, *args)
            return _cleaned(value) if _MENTIONS_UNSTORABLE.search(text) else value
        except RecursionError as error:
            raise ValueError("nested too deeply") from error


DECODER = SafeDecoder()


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    if isinstance(value, dict):
        return {_UNSTORABLE.sub("\ufffd", key): _cleaned(item) for key, item in value.items()}
    return value


def first_words(body: bytes | str, limit: int = 160) -> str:
    """The beginning of an answer as one line of plain text for a message, without the tags where it is HTML."""
    text = body[:4000].decode("utf-8", "replace") if isinstance(body, bytes) else body[:4000]
    text = _TAGS.sub(" ", text) if text.lstrip().startswith("<") else text
    plain = " ".join(_UNSTORABLE.sub("\ufffd", text).split())
    return plain if len(plain) <= limit else plain[: limit - 1].rstrip() + "…"


def read_json(text: str, where: str) -> dict[str, Any]:
    """The JSON object an answer holds. Raises `UnreadableAnswer` with its first words."""
    try:
        value = DECODER.decode(text)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return value
    raise not_json(text, where)


def not_json(text: bytes | str, where: str) -> UnreadableAnswer:
    """The error for an answer that is no JSON object."""
    start = first_words(text)
    said = f"it begins “{start}”" if start else "it is empty"
    return UnreadableAnswer(
        f"{where} did not answer with JSON: {said}.",
        todo="Is this the address of a search engine, without a login page?",
    )


def check_status(answer: Answer, where: str, own_message: Callable[[Any], str]) -> None:
    """Raise the error that a status stands for. `own_message` finds the engine's own words in its JSON, or gives ''."""
    if 200 <= answer.status < 300:
        return
    if 300 <= answer.status < 400:
        raise UnreadableAnswer(
            f"{where} redirects to {_shown_target(answer.headers.get('location', ''))} (status {answer.status}).",
            todo="Redirects are never followed: enter the final address in the endpoint.",
            status=answer.status,
        )
    try:
        message = own_message(DECODER.decode(answer.body.decode("utf-8", "replace")))
    except ValueError:
        message = ""
    raise error_for(answer.status, where, message, first_words(answer.body))


def error_for(status: int, where: str, message: str, start: str = "") -> EngineError:
    """The error for a status above 399. `message`: the engine's own words; `start`: what else the body begins with."""
    message = _shortened(" ".join(message.split()))
    said = f": {(message or start).rstrip('.')}" if message or start else ""
    if status in (401, 403):
        return EndpointRefused(
            f"{where} refused access ({status}){said}.", todo="Check the endpoint's credentials.", status=status
        )
    if status == 404:
        return EndpointUnreachable(
            f"{where} does not exist (404){said}.", todo="Check the name at the end of the address.", status=status
        )
    if status == 408:
        return TooSlow(f"{where} gave up waiting (408){said}.", todo="Try a cheaper query.", status=status)
    if status == 429:
        todo = "Allow fewer requests at once or per minute in the endpoint."
        return EndpointUnreachable(f"{where} is asked too often (429){said}.", todo=todo, status=status)
    if status in (502, 503, 504):
        todo = "It may be starting or overloaded: try again later."
        return EndpointUnreachable(f"{where} is not ready ({status}){said}.", todo=todo, status=status)
    if message:
        return BadQuery(f"The engine refused the query ({status}): {message}", status=status)
    return UnreadableAnswer(
        f"{where} answered with status {status}{said}.",
        todo="Is this the address of a search engine?",
        status=status,
    )


def explain_tree(tree: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """Lucene's explanation, as Solr and Elasticsearch give it, with just value, description and details, to a depth of 100."""
    value = tree.get("value")
    details = tree.get("details") if depth < _DEEPEST_TREE else None
    return {
        "value": float(value) if isinstance(value, int | float) else 0.0,
        "description": str(tree.get("description", "")),
        "details": [explain_tree(node, depth + 1) for node in details if isinstance(node, dict)]
        if isinstance(details, list)
        else [],
    }


def _shortened(message: str) -> str:
    """Both ends of a long message: parsers repeat the whole query before they come to what is wrong with it."""
    message = _UNSTORABLE.sub("\ufffd", message)
    return message if len(message) <= 1500 else f"{message[:700]} … {message[-700:]}"


def _shown_target(location: str) -> str:
    try:
        parts = urlsplit(location)
    except ValueError:
        return "an unreadable address"
    host = parts.netloc.rpartition("@")[2]
    return first_words(f"{parts.scheme}://{host}{parts.path}" if host else parts.path) or "nowhere"
