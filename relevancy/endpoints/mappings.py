"""Mappings: what the options of an endpoint find in a response, tried on a response that a user has pasted or fetched."""

import json
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from functools import partial

from relevancy.engines.http_api import HttpApiEngine, try_mapping
from relevancy.engines.types import MappingProblem
from relevancy.models import Endpoint

from .connection_test import Document
from .connections import connect_for_page, run_mapper
from .suggestions import suggest_fields

MAX_CHARACTERS = 1_000_000  # of a response
ENGINE = HttpApiEngine.key
OPTIONS = tuple(option for option in HttpApiEngine.options if option.kind in ("expression", "script"))


@dataclass(frozen=True)
class MappedDocument:
    """A document that was read from a response, as a page shows it. is_complete: False if something of it could not be read."""

    document: Document
    is_complete: bool


@dataclass(frozen=True)
class Mapped:
    """What a mapping finds in a response: the first documents, how many there are, the total that the response says, and what is wrong.

    `console`: what a mapper script wrote.
    `is_empty`: the response has no documents, which is not a mistake of the mapping.
    """

    documents: tuple[MappedDocument, ...]
    document_count: int
    total: int | None
    problems: tuple[MappingProblem, ...]
    console: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.document_count and not self.problems


def apply_mapping(*, response: str, options: Mapping[str, str]) -> Mapped:
    """Applies the options of an endpoint that read responses to the text of one. Sends nothing; never raises for what they contain."""
    if len(response) > MAX_CHARACTERS:
        message = f"The response has {len(response):,} characters; at most {MAX_CHARACTERS:,} can be tried."
        return Mapped((), 0, None, (MappingProblem("", message),))
    chosen_options = {info.name: options.get(info.name, "") for info in OPTIONS}
    trial = try_mapping(response, chosen_options, partial(run_mapper, console=True))
    names = list(dict.fromkeys(name for tried in trial.hits for name in tried.hit.fields))
    chosen = suggest_fields(engine=ENGINE, names=names)
    documents = []
    for tried in trial.hits:
        fields = tried.hit.fields
        title = _text(fields.get(chosen.title)) or tried.hit.id
        subs = tuple((name, _text(value)) for name, value in fields.items() if name not in (chosen.title, "id"))
        documents.append(MappedDocument(Document(tried.hit.id, title, None, subs, tried.hit.score), tried.is_complete))
    return Mapped(tuple(documents), trial.document_count, trial.total, trial.problems, trial.console)


def fetch_response(*, endpoint: Endpoint, text: str) -> str:
    """Sends one query to an endpoint of the engine `http` and returns the text of the response, JSON with indents.

    Raises `EngineError`, `UnreadableSecret` and `Busy`.
    """
    adjusted = copy(endpoint)
    # Only the request matters here; expressions that are wrong must not prevent it.
    adjusted.options = {
        name: value for name, value in endpoint.options.items() if name not in {info.name for info in OPTIONS}
    } | {"hits": "@"}
    with connect_for_page(adjusted) as engine:
        assert isinstance(engine, HttpApiEngine)
        response = engine.fetch(text)
    try:
        return json.dumps(json.loads(response), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return response


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
