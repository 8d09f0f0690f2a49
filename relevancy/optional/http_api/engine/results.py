"""Responses of search APIs: any JSON, read by an endpoint's expressions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from relevancy import sandbox
from relevancy.engines.errors import BadQuery, UnreadableResponse
from relevancy.engines.fields.specs import FieldSpec
from relevancy.engines.fields.values import as_number
from relevancy.engines.templates.slots import as_text
from relevancy.engines.transport.response import DECODER, not_json
from relevancy.engines.types import Hit
from relevancy.sandbox import MappedResponse

from .expressions import describe, quote_name, truncate
from .options import HttpApiOptions

ID = "id"  # the field that the id of a hit is stored in
_CORRECT_EXPRESSION = "Correct the expression in the endpoint."
_CONVERT_TO_NUMBER = "Convert a string with to_number(…)."
_MESSAGE_KEYS = ("message", "error", "errors", "detail", "details", "reason", "description", "msg", "title")
_MAX_MESSAGE_DEPTH = 4
_MAX_LIST_DEPTH = 4
_MAX_KEYS = 50
MAX_MAPPED_CHARACTERS = 5_000_000


def read_response(body: bytes, url: str) -> Any:
    """Returns the JSON of a response, an object or a list. Raises `UnreadableResponse` with its beginning."""
    text = body.decode("utf-8-sig", "replace")
    try:
        value = DECODER.decode(text)
    except ValueError:
        value = None
    if isinstance(value, dict | list):
        return value
    raise not_json(text, url)


def run_mapper(script: str, text: str, *, console: bool = False) -> MappedResponse:
    """Runs the mapper script of an endpoint over the text of a response; see `check_mapped`. console: keep its output."""
    if len(text) > MAX_MAPPED_CHARACTERS:
        raise UnreadableResponse(
            f"The response has {len(text):,} characters; a mapper script can read at most {MAX_MAPPED_CHARACTERS:,}.",
            hint="Ask for fewer results, or for fewer fields.",
        )
    try:
        return sandbox.map_response(script, text, console=console)
    except sandbox.SandboxError as error:
        return MappedResponse(error=error.sentence)


def check_mapped(mapped: MappedResponse) -> tuple[list[Any], int | None]:
    """Returns the documents that a mapper script has found, and their total. Raises `UnreadableResponse` if it has failed."""
    total = mapped.total
    if mapped.error:
        problem = f"The mapper script failed. {mapped.error.rstrip('.')}."
    elif total is not None and not (float(total).is_integer() and total >= 0):
        problem = f"numberOfResultsMapper returned {total:g}, which is not a number of documents."
    else:
        return list(mapped.documents), None if total is None else int(total)
    raise UnreadableResponse(problem, hint="Try it on the page of the endpoint.")


def read_hits(body: bytes, url: str, options: HttpApiOptions) -> tuple[list[Any], int | None]:
    """Returns the hits of a response in rank order, and the number of matching documents.

    Raises `UnreadableResponse`, and `BadQuery` for an error that the API reports in the response.
    """
    if options.mapper:
        return check_mapped(run_mapper(options.mapper, body.decode("utf-8-sig", "replace")))
    response = read_response(body, url)
    check_error(response, options)
    raws = raw_hits(response, options)
    return raws, total_of(response, options, raws)


def raw_hits(response: Any, options: HttpApiOptions) -> list[Any]:
    """Returns the hits in rank order. Raises `UnreadableResponse` naming the lists in the response if there are none."""
    assert options.hits is not None  # there is no mapper script
    value = options.hits.find(response)
    if isinstance(value, list):
        return value
    lists = ", ".join(f"{path} ({length})" for path, length in _lists(response))
    content = f" Lists in the response: {lists}." if lists else f" The response: {describe(response)}."
    raise options.hits.mismatch(value, "a list of hits", f"{_CORRECT_EXPRESSION}{content}", searched=response)


def check_error(response: Any, options: HttpApiOptions) -> None:
    """Raises `BadQuery` if the option `error` finds something in a response: an error that the API reports with status 200."""
    value = options.error.find(response) if options.error else None
    if value in (None, False, "", [], {}):
        return
    message = error_message(value) or describe(value)
    raise BadQuery(
        f"The API reports an error in its response: {truncate(message)}",
        hint="It was found by the endpoint's option error.",
    )


def total_of(response: Any, options: HttpApiOptions, hits: list[Any]) -> int | None:
    """Returns the number of matching documents; None if the endpoint has no such option, or an empty list comes without."""
    if options.total is None:
        return None
    value = options.total.find(response)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if value is None and not hits:
        return None
    hint = f"{_CORRECT_EXPRESSION} {_CONVERT_TO_NUMBER}" if isinstance(value, str) else _CORRECT_EXPRESSION
    raise options.total.mismatch(value, "a whole number", hint, searched=response)


def read_hit(raw: Any, rank: int, options: HttpApiOptions, fields: FieldSpec) -> Hit:
    """Returns one document; `rank` counts from 1.

    Raises `UnreadableResponse` if it has no id, or if an expression finds a value of the wrong type.
    """
    document = document_of(raw, rank, options)
    doc_id = id_of(raw, document, rank, options, is_required=fields.id == ID)
    if doc_id:
        document[ID] = doc_id
    return Hit(fields.id_of(document), score_of(raw, options), fields.pick(document))


def error_message(body: Any) -> str:
    """Returns an API's own message from an error response, if it has one of the usual keys; else an empty string."""
    for _ in range(_MAX_MESSAGE_DEPTH):
        if isinstance(body, str):
            return body
        if isinstance(body, list):
            body = next(iter(body), None)
        elif isinstance(body, dict):
            body = next((body[key] for key in _MESSAGE_KEYS if body.get(key)), None)
    return body if isinstance(body, str) else ""


def id_of(
    raw: Any, document: Mapping[str, Any], rank: int, options: HttpApiOptions, *, is_required: bool = True
) -> str:
    """Returns the id of a hit; empty if it has none and none is required. Raises `UnreadableResponse`."""
    if options.id:
        value = options.id.find(raw)
        if isinstance(value, list | dict):
            raise options.id.mismatch(value, "the id of a document", _CORRECT_EXPRESSION)
    else:
        value = raw.get(ID, document.get(ID)) if isinstance(raw, dict) else raw
    doc_id = "" if isinstance(value, list | dict) else as_text(value).strip()
    if doc_id or not is_required:
        return doc_id
    reason = f"{options.id} found nothing." if options.id else f"Its field “{ID}” is missing or empty."
    missing = options.id.missing_step(raw) if options.id else ""
    raise UnreadableResponse(
        f"Hit {rank} has no id. {reason} {missing or f'The hit is {describe(raw)}.'}",
        hint="Let docsMapper give each document an id."
        if options.mapper
        else "Set the endpoint's option id to the expression for the id in a hit.",
    )


def document_of(raw: Any, rank: int, options: HttpApiOptions) -> dict[str, Any]:
    """Returns the fields of a hit; `rank` counts from 1. Raises `UnreadableResponse`."""
    if options.document is None:
        return dict(raw) if isinstance(raw, dict) else {}
    value = options.document.find(raw)
    if isinstance(value, dict):
        return dict(value)
    raise options.document.mismatch(
        value,
        f"the object of fields in hit {rank}",
        f"{_CORRECT_EXPRESSION} The hit is {describe(raw)}.",
        searched=raw,
    )


def score_of(raw: Any, options: HttpApiOptions) -> float | None:
    """Returns the score of a hit; None if it has none. Raises `UnreadableResponse`."""
    if options.score is None or (value := options.score.find(raw)) is None:
        return None
    number = as_number(value)
    if number is None:
        raise options.score.mismatch(value, "a number", f"{_CORRECT_EXPRESSION} {_CONVERT_TO_NUMBER}")
    return number


def _lists(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, int]]:
    """Yields path and length of the lists in a response."""
    if isinstance(value, list):
        yield path or "@", len(value)
    elif isinstance(value, dict) and depth < _MAX_LIST_DEPTH:
        for name, inner in list(value.items())[:_MAX_KEYS]:
            step = quote_name(name)
            yield from _lists(inner, f"{path}.{step}" if path else step, depth + 1)
