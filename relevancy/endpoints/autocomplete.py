"""Autocompletion: an endpoint's field names, and what a query template may contain."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache

from relevancy import engines
from relevancy.models import Case, Endpoint, UnreadableSecret

from .connections import connect_for_page

CACHE_SECONDS = 300
ERROR_CACHE_SECONDS = 20  # long enough that a page with many inputs contacts an engine that is down only once
MAX_FIELDS = 1000
MAX_OPTIONS = 200  # different options of queries
MAX_ATTEMPTS = 60
FIELD_TYPES = ("id", "title", "thumb", "image", "highlight", "unabridged", "media", "translate", "func")


@dataclass(frozen=True)
class FieldNames:
    """An endpoint's field names, sorted; or none, and the `reason`."""

    names: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class TemplateVocabulary:
    """What a template may contain: placeholders and knobs as they are written, and the engine's own words."""

    placeholders: tuple[str, ...]
    knobs: tuple[str, ...]
    words: tuple[str, ...] = ()


def fields(endpoint: Endpoint) -> FieldNames:
    """Returns the fields of an endpoint, cached for five minutes. Never raises for what the endpoint does; raises `Busy`.

    The cache does not apply to an endpoint whose address, options or credentials have changed.
    """
    key = f"fields-of-endpoint-{_fingerprint(endpoint)}"
    cached: FieldNames | None = cache.get(key)
    if cached is not None:
        return cached
    field_names = _request_fields(endpoint)
    cache.set(key, field_names, ERROR_CACHE_SECONDS if field_names.reason else CACHE_SECONDS)
    return field_names


def _fingerprint(endpoint: Endpoint) -> str:
    """Returns a hash of everything that can change what the endpoint returns."""
    try:
        private: Any = [endpoint.credentials, endpoint.headers]
    except UnreadableSecret:
        private = "unreadable"
    settings = json.dumps([endpoint.pk, endpoint.engine, endpoint.url, endpoint.options, private], sort_keys=True)
    return hashlib.sha256(settings.encode()).hexdigest()


def _request_fields(endpoint: Endpoint) -> FieldNames:
    try:
        with connect_for_page(endpoint) as engine:
            return FieldNames(tuple(engine.fields()[:MAX_FIELDS]))
    except engines.EngineError as error:
        return FieldNames(reason=str(error))


def typed_fields(field_names: FieldNames) -> list[str]:
    """Returns field names as a field specification may contain them, also with a type: title:name, thumb:name."""
    names = field_names.names
    return [*names, *(f"{field_type}:{name}" for field_type in FIELD_TYPES for name in names)]


def template_vocabulary(case: Case, endpoint: Endpoint) -> TemplateVocabulary:
    """Returns what the case's templates may contain on an endpoint. Two SQL statements; does not contact the engine.

    Options are those of the case, the endpoint and the case's queries, by their paths; knobs are those of its attempts.
    """
    knobs_of_attempts = case.attempts.order_by("-number").values_list("knobs", flat=True)[:MAX_ATTEMPTS]
    knobs = sorted({name for knobs in knobs_of_attempts for name in knobs})
    query_options = case.case_queries.present().exclude(options={}).order_by().values_list("options", flat=True)
    paths = dict.fromkeys([*_paths(case.options), *_paths(endpoint.options.get("query_options", {}))])
    for options in query_options.distinct()[:MAX_OPTIONS]:
        paths.update(dict.fromkeys(_paths(options)))
    engine = engines.find(endpoint.engine)
    return TemplateVocabulary(
        placeholders=(
            "#$query##",
            "#$keyword1##",
            "#$keyword2##",
            "#$keyword.0##",
            *(f"#$qOption.{path}##" for path in sorted(paths)[:MAX_OPTIONS]),
            "#$qOption.information_need##",
            "#$qOption.reference_answer##",
        ),
        knobs=tuple(f"##{name}##" for name in knobs),
        words=engine.vocabulary if engine else (),
    )


def _paths(options: Mapping[str, Any], prefix: str = "") -> Iterable[str]:
    """Yields `a` and `a.b` for {"a": {"b": 1}}, as far as a placeholder can name them: letters, digits and underscores."""
    for name, value in options.items():
        if not name.replace("_", "a").isalnum() or not name.isascii():
            continue
        yield prefix + name
        if isinstance(value, Mapping):
            yield from _paths(value, f"{prefix}{name}.")
