"""Tries expressions on one response: the documents that they find, and at which place each of them fails."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from relevancy.engines.errors import BadQuery, OptionError, UnreadableResponse
from relevancy.engines.fields.specs import parse_fields
from relevancy.engines.transport.response import DECODER
from relevancy.engines.types import Hit, MapperResult, MapperRunner, MappingProblem, MappingTrial, TriedHit

from .options import HttpApiOptions, parse_options
from .results import ID, check_error, document_of, id_of, map_response, raw_hits, score_of, total_of

MAX_HITS = 20
_ALL_FIELDS = parse_fields("*")


def try_mapping(text: str, options: Mapping[str, Any], run_mapper: MapperRunner | None = None) -> MappingTrial:
    """Returns what the options of an endpoint find in a response. Never raises for what either contains. Sends nothing."""
    try:
        parsed = parse_options(options)
    except OptionError as error:
        return MappingTrial(problems=(MappingProblem(error.option, str(error)),))
    if parsed.mapper:
        return _Trial(parsed, None).mapped(text, run_mapper)
    try:
        response = _parse(text)
    except ValueError as error:
        return MappingTrial(problems=(MappingProblem("", str(error)),))
    return _Trial(parsed, response).result()


def _parse(text: str) -> Any:
    """Returns the JSON of a response. Raises ValueError with line and column."""
    if not text.strip():
        raise ValueError("There is no response yet.")
    try:
        value = DECODER.decode(text.strip().removeprefix("\ufeff"))
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

    def __init__(self, options: HttpApiOptions, response: Any) -> None:
        self._options, self._response = options, response
        self._messages: dict[str, str] = {}
        self._counts: Counter[str] = Counter()

    def mapped(self, text: str, run_mapper: MapperRunner | None) -> MappingTrial:
        """Returns what the mapper script finds, with what it wrote to the console even if it fails."""
        console: list[str] = []

        def run(script: str, response: str) -> MapperResult:
            result = run_mapper(script, response) if run_mapper else MapperResult(error="Scripts cannot be run here.")
            console.extend(result.console)
            return result

        mapped = self._attempt("mapper", lambda: map_response(text, self._options, run)) or MapperResult()
        total = None if mapped.total is None else int(mapped.total)
        return replace(self._trial(list(mapped.documents), total), console=tuple(console))

    def result(self) -> MappingTrial:
        options, response = self._options, self._response
        self._attempt("error", lambda: check_error(response, options))
        raws = self._attempt("hits", lambda: raw_hits(response, options)) or []
        total = self._attempt("total", lambda: total_of(response, options, raws))
        return self._trial(raws, total)

    def _trial(self, raws: Sequence[Any], total: int | None) -> MappingTrial:
        hits = tuple(self._hit(raw, rank) for rank, raw in enumerate(raws[:MAX_HITS], 1))
        problems = tuple(
            MappingProblem(option, message, self._counts[option]) for option, message in self._messages.items()
        )
        return MappingTrial(hits=hits, document_count=len(raws), total=total, problems=problems)

    def _hit(self, raw: Any, rank: int) -> TriedHit:
        failures = self._counts.total()
        document = self._attempt("document", lambda: document_of(raw, rank, self._options)) or {}
        option = "mapper" if self._options.mapper else "id"
        doc_id = self._attempt(option, lambda: id_of(raw, document, rank, self._options)) or ""
        score = self._attempt("score", lambda: score_of(raw, self._options))
        if doc_id:
            document[ID] = doc_id
        return TriedHit(Hit(doc_id, score, _ALL_FIELDS.pick(document)), self._counts.total() == failures)

    def _attempt[Value](self, option: str, read: Callable[[], Value]) -> Value | None:
        """Returns what `read` returns. If it fails, keeps the first message of the option and counts."""
        try:
            return read()
        except (UnreadableResponse, BadQuery) as error:
            self._messages.setdefault(option, str(error))
            self._counts[option] += 1
            return None
