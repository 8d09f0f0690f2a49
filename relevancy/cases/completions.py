"""What is offered while somebody types: an endpoint's field names, and what a query template may contain.

The words of Solr's parameters and of the query DSL are those most templates need, not all there are.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core.cache import cache

from relevancy import engines, evaluation
from relevancy.engines.embedded_query import KEYS as EMBEDDED
from relevancy.models import Case, Endpoint, UnreadableSecret

KEPT_SECONDS = 300
ERROR_KEPT_SECONDS = 20  # long enough that a page full of inputs asks a dead engine once
MOST_FIELDS = 1000
MOST_OPTIONS = 200  # different options of queries
FIELD_TYPES = ("id", "title", "thumb", "image", "highlight", "unabridged", "media", "translate", "func")

_SOLR = """
q defType qf pf pf2 pf3 mm tie bq bf boost fq sort start rows fl df q.op q.alt uf ps ps2 ps3 qs lowercaseOperators sow
mm.autoRelax stopwords rq rqq debug facet facet.field facet.query facet.limit facet.mincount hl hl.fl hl.method group
group.field group.limit collapse expand spellcheck spellcheck.q synonyms timeAllowed cache cost json.facet
"""
_DSL = """
query match match_phrase match_phrase_prefix match_bool_prefix match_all multi_match combined_fields query_string
simple_query_string term terms range exists prefix wildcard fuzzy regexp ids bool must should filter must_not dis_max queries
constant_score boosting positive negative negative_boost function_score functions field_value_factor script_score
random_score gauss exp linear weight score_mode boost_mode max_boost rescore window_size rescore_query query_weight
rescore_query_weight nested path has_child has_parent knn query_vector num_candidates k rrf rank_window_size retriever
fields type best_fields most_fields cross_fields phrase phrase_prefix bool_prefix operator minimum_should_match tie_breaker
fuzziness prefix_length max_expansions slop analyzer boost lenient auto_generate_synonyms_phrase_query default_operator
gte lte gt lt sort collapse track_total_hits min_score post_filter highlight script source params id _source timeout
"""
_WORDS: Mapping[str, tuple[str, ...]] = {
    "solr": tuple(_SOLR.split()),
    "elasticsearch": tuple(_DSL.split()),
    "opensearch": (*_DSL.split(), "hybrid", "neural", "query_text", "model_id", "search_pipeline"),
    "embedded": EMBEDDED,
}


@dataclass(frozen=True)
class Offered:
    """Field names, sorted; or none, and why."""

    names: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Words:
    """What a template may contain: placeholders and knobs as they are written, and the engine's own words."""

    placeholders: tuple[str, ...]
    knobs: tuple[str, ...]
    words: tuple[str, ...] = field(default=())


def fields(endpoint: Endpoint) -> Offered:
    """The fields an endpoint offers, as it said within the last five minutes. Never raises for what the endpoint does.

    An endpoint that leads elsewhere by now is asked anew at once.
    """
    key = f"fields-of-endpoint-{_fingerprint(endpoint)}"
    known: Offered | None = cache.get(key)
    if known is None:
        known = _ask(endpoint)
        cache.set(key, known, ERROR_KEPT_SECONDS if known.reason else KEPT_SECONDS)
    return known


def _fingerprint(endpoint: Endpoint) -> str:
    """Another one whenever the endpoint could answer something else: where it leads, by which options and as whom."""
    try:
        secrets: Any = [endpoint.credentials, endpoint.headers]
    except UnreadableSecret:
        secrets = "unreadable"
    said = json.dumps([endpoint.pk, endpoint.engine, endpoint.url, endpoint.options, secrets], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()


def _ask(endpoint: Endpoint) -> Offered:
    try:
        with evaluation.connect(endpoint) as engine:
            return Offered(tuple(engine.fields()[:MOST_FIELDS]))
    except engines.EngineError as error:
        return Offered(reason=str(error))


def typed_fields(offered: Offered) -> list[str]:
    """Field names as a field specification may name them, those with a type included: title:name, thumb:name, …."""
    return [*offered.names, *(f"{kind}:{name}" for kind in FIELD_TYPES for name in offered.names)]


def words(case: Case, endpoint: Endpoint) -> Words:
    """What the case's templates may contain on an endpoint. Two statements; asks no engine.

    Options are those of the case, the endpoint and its queries, by their paths; knobs those of the case's attempts.
    """
    attempts = case.attempts.order_by("-number").values_list("knobs", flat=True)[:60]
    knobs = sorted({name for some in attempts for name in some})
    own = endpoint.options.get("query_options", {})
    given = case.case_queries.present().exclude(options={}).order_by().values_list("options", flat=True)
    options = dict.fromkeys([*_paths(case.options), *_paths(own)])
    for some in given.distinct()[:MOST_OPTIONS]:
        options.update(dict.fromkeys(_paths(some)))
    return Words(
        placeholders=(
            "#$query##",
            "#$keyword1##",
            "#$keyword2##",
            "#$keyword.0##",
            *(f"#$qOption.{path}##" for path in sorted(options)[:MOST_OPTIONS]),
        ),
        knobs=tuple(f"##{name}##" for name in knobs),
        words=_WORDS.get(endpoint.engine, ()),
    )


def _paths(options: Mapping[str, Any], before: str = "") -> Iterable[str]:
    """`a`, `a.b` of {"a": {"b": 1}}: what a placeholder can name, which letters, digits and underscores can."""
    for name, value in options.items():
        if not name.replace("_", "a").isalnum() or not name.isascii():
            continue
        yield before + name
        if isinstance(value, Mapping):
            yield from _paths(value, f"{before}{name}.")
