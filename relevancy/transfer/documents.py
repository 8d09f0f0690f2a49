"""Documents as JSON lines, into the embedded engine."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from relevancy import cases, engines, evaluation

from .errors import BadFile


def read(text: str) -> Iterator[dict[str, Any]]:
    """One JSON object a line. Raises `BadFile` with the line."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            doc = json.loads(line)
        except json.JSONDecodeError as error:
            raise BadFile(f"column {error.colno}: this is no JSON: {error.msg}.", line=number) from None
        if not isinstance(doc, dict):
            raise BadFile(f"this is no JSON object: {line[:60]!r}.", line=number)
        yield doc


def load(*, engine: str, url: str, text: str, by: Any, id_field: str = "id") -> int:
    """Documents of a file into an engine. Returns how many. Raises `BadFile`, `EngineError`."""
    try:
        return put(engine=engine, url=url, documents=read(text), by=by, id_field=id_field)
    except ValueError as error:
        raise BadFile(str(error)) from None


def put(*, engine: str, url: str, documents: Iterable[Mapping[str, Any]], by: Any, id_field: str = "id") -> int:
    """Documents into an engine that need not be an endpoint; the rules for addresses hold. Raises `EngineError`, `ValueError`."""
    endpoint = cases.endpoints.draft(name="documents", engine=engine, url=url, by=by)
    return engines.load_documents(evaluation.connection(endpoint), documents, id_field=id_field)
