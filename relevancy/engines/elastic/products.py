"""What differs between Elasticsearch and OpenSearch, as data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any, Protocol, cast

from relevancy.engines.transport.addresses import Address
from relevancy.engines.transport.client import HttpClient

# An editor completes these names in a template.
_WORDS = """
query match match_phrase match_phrase_prefix match_bool_prefix match_all multi_match combined_fields query_string
simple_query_string term terms range exists prefix wildcard fuzzy regexp ids bool must should filter must_not dis_max
queries constant_score boosting positive negative negative_boost function_score functions field_value_factor
script_score random_score gauss exp linear weight score_mode boost_mode max_boost rescore window_size rescore_query
query_weight rescore_query_weight nested path has_child has_parent knn query_vector num_candidates k rrf
rank_window_size retriever fields type best_fields most_fields cross_fields phrase phrase_prefix bool_prefix operator
minimum_should_match tie_breaker fuzziness prefix_length max_expansions slop analyzer boost lenient
auto_generate_synonyms_phrase_query default_operator gte lte gt lt sort collapse track_total_hits min_score
post_filter highlight script source params id _source timeout
"""
_VOCABULARY = tuple(_WORDS.split())


class Client(Protocol):
    """A product's own client. Raises only members of the `EngineError` family."""

    def perform(self, method: str, path: str, body: Any = None, *, lines: bool = False) -> Any:
        """Returns the JSON of a response.

        `path` is below the address's prefix. `lines`: `body` is a list, of which each item is sent as one line.
        """

    def close(self) -> None:
        """Closes what it has opened."""


@dataclass(frozen=True)
class Product:
    """One product.

    `key`, `name`: the engine's key and its name for people.
    `offset_parameter`: its name for how many characters of a field are highlighted.
    `client`: path of the function behind `open_client`. Only processes that use the product import its library, which takes as long as
        Django's start.
    """

    key: str
    name: str
    offset_parameter: str
    client: str
    vocabulary: tuple[str, ...]

    @property
    def open_client(self) -> Callable[[HttpClient, Address, str, str], Client]:
        """To be called with HTTP client, address, path prefix, and the URL that messages name."""
        return cast("Callable[[HttpClient, Address, str, str], Client]", resolve_name(self.client))


ELASTICSEARCH = Product(
    key="elasticsearch",
    name="Elasticsearch",
    offset_parameter="max_analyzed_offset",
    client="relevancy.engines.elastic.elasticsearch_client:open_elasticsearch",
    vocabulary=_VOCABULARY,
)
OPENSEARCH = Product(
    key="opensearch",
    name="OpenSearch",
    offset_parameter="max_analyzer_offset",
    client="relevancy.engines.elastic.opensearch_client:open_opensearch",
    vocabulary=(*_VOCABULARY, "hybrid", "neural", "query_text", "model_id", "search_pipeline"),
)
