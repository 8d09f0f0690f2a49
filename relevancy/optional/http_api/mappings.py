"""Mappings: what the options of an endpoint find in a response, tried on one that a user has pasted or fetched."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

from relevancy import endpoints, engines
from relevancy.engines.fields.specs import parse_fields
from relevancy.models import Endpoint

from .engine import HttpApiEngine
from .engine.options import OPTIONS, HttpApiOptions, parse_options
from .engine.results import (
    ID,
    check_error,
    check_mapped,
    document_of,
    id_of,
    raw_hits,
    run_mapper,
    score_of,
    total_of,
)

MAX_CHARACTERS = 1_000_000  # of a response
MAX_DOCUMENTS = 20
MAPPING_OPTIONS = tuple(option for option in OPTIONS if option.kind in ("expression", "script"))
_ALL_FIELDS = parse_fields("*")


@dataclass(frozen=True)
class MappingProblem:
    """What an option of an endpoint does not find in a response.

    `option`: empty if the response itself is the problem. `count`: of documents.
    """

    option: str
    message: str
    count: int = 1


@dataclass(frozen=True)
class MappedDocument:
    """A document that was read from a response, as a page shows it. is_complete: False if something of it could not be read."""

    id: str
    title: str
    score: float | None
    subs: tuple[tuple[str, str], ...]
    is_complete: bool


@dataclass(frozen=True)
class Mapped:
    """What a mapping finds in a response: the first documents, how many there are, the total that the response says, and what is wrong.

    `total`: None if the response or the options do not say it. `console`: what a mapper script wrote.
    """

    documents: tuple[MappedDocument, ...] = ()
    document_count: int = 0
    total: int | None = None
    problems: tuple[MappingProblem, ...] = ()
    console: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """The response has no documents, which is not a mistake of the mapping."""
        return not self.document_count and not self.problems


def apply_mapping(*, response: str, options: Mapping[str, str]) -> Mapped:
    """Applies the options of an endpoint that read responses to the text of one. Sends nothing; never raises for what they contain."""
    try:
        if len(response) > MAX_CHARACTERS:
            raise ValueError(f"The response has {len(response):,} characters; at most {MAX_CHARACTERS:,} can be tried.")
        parsed = parse_options({option.name: options.get(option.name, "") for option in MAPPING_OPTIONS})
        return _Trial(parsed).apply(response)
    except (ValueError, engines.OptionError) as error:
        return Mapped(problems=(MappingProblem(getattr(error, "option", ""), str(error)),))


def _parse(text: str) -> Any:
    """Returns the JSON of a response. Raises ValueError with line and column."""
    if not text.strip():
        raise ValueError("There is no response yet.")
    try:
        value = engines.DECODER.decode(text.strip().removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise ValueError(
            f"The response is not JSON. Line {error.lineno}, column {error.colno}: {error.msg}."
        ) from error
    except ValueError as error:
        raise ValueError(f"The response is not JSON: {error}.") from error
    if not isinstance(value, dict | list):
        raise ValueError("The response is a single value. It has to be an object or a list.")
    return value


class _Trial:
    """Applies each option by itself, so that all mistakes are seen at once."""

    def __init__(self, options: HttpApiOptions) -> None:
        self._options = options
        self._messages: dict[str, str] = {}
        self._counts: Counter[str] = Counter()

    def apply(self, text: str) -> Mapped:
        """Returns what the options find in the text of a response. Raises ValueError if it is not JSON."""
        options = self._options
        console: tuple[str, ...] = ()
        if options.mapper:
            mapped = run_mapper(options.mapper, text, console=True)
            console = mapped.console
            raws, total = self._attempt("mapper", lambda: check_mapped(mapped)) or ([], None)
        else:
            response = _parse(text)
            self._attempt("error", lambda: check_error(response, options))
            raws = self._attempt("hits", lambda: raw_hits(response, options)) or []
            total = self._attempt("total", lambda: total_of(response, options, raws))
        hits = [self._read_hit(raw, rank) for rank, raw in enumerate(raws[:MAX_DOCUMENTS], 1)]
        names = list(dict.fromkeys(name for hit, _ in hits for name in hit.fields))
        title = endpoints.suggestions.suggest_fields(engine=HttpApiEngine.key, names=names).title
        documents = tuple(
            MappedDocument(
                id=hit.id,
                title=_text(hit.fields.get(title)) or hit.id,
                score=hit.score,
                subs=tuple((name, _text(value)) for name, value in hit.fields.items() if name not in (title, ID)),
                is_complete=is_complete,
            )
            for hit, is_complete in hits
        )
        problems = tuple(
            MappingProblem(option, message, self._counts[option]) for option, message in self._messages.items()
        )
        return Mapped(documents, len(raws), total, problems, console)

    def _read_hit(self, raw: Any, rank: int) -> tuple[engines.Hit, bool]:
        """Returns what can be read of a document, and whether that is all of it."""
        failures = self._counts.total()
        document = self._attempt("document", lambda: document_of(raw, rank, self._options)) or {}
        option = "mapper" if self._options.mapper else "id"
        doc_id = self._attempt(option, lambda: id_of(raw, document, rank, self._options)) or ""
        score = self._attempt("score", lambda: score_of(raw, self._options))
        if doc_id:
            document[ID] = doc_id
        return engines.Hit(doc_id, score, _ALL_FIELDS.pick(document)), self._counts.total() == failures

    def _attempt[Value](self, option: str, read: Callable[[], Value]) -> Value | None:
        """Returns what `read` returns. If it fails, keeps the first message of the option and counts."""
        try:
            return read()
        except (engines.UnreadableResponse, engines.BadQuery) as error:
            self._messages.setdefault(option, str(error))
            self._counts[option] += 1
            return None


def fetch_response(*, endpoint: Endpoint, text: str) -> str:
    """Sends one query to an endpoint of the engine `http` and returns the text of the response, JSON with indents.

    Raises `EngineError`, `UnreadableSecret` and `Busy`.
    """
    adjusted = copy(endpoint)
    # Only the request matters here; expressions that are wrong must not prevent it.
    mapping = {option.name for option in MAPPING_OPTIONS}
    adjusted.options = {name: value for name, value in endpoint.options.items() if name not in mapping} | {"hits": "@"}
    with endpoints.connect_for_page(adjusted) as engine:
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
