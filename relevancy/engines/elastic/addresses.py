"""Addresses of indices: `http://localhost:9200/products`."""

from __future__ import annotations

from relevancy.engines.errors import EndpointUnreachable
from relevancy.engines.names import check_names, check_prefix, plain_segments
from relevancy.engines.transport.addresses import Address

EXAMPLE = "http://localhost:9200/products"
_SEARCH_APIS = ("_search", "_msearch")


def prefix_and_index(address: Address) -> tuple[str, str]:
    """Returns the path before the index (empty, or beginning with a slash) and the index of an address such as `…/products`.

    Raises `EndpointUnreachable` if the address names no index, or something else than indexes: an API, `_all`, a wildcard, a
    system index, a remote cluster.
    """
    segments = plain_segments(address, EXAMPLE)
    if segments and segments[-1] in _SEARCH_APIS:
        segments.pop()
    if not segments:
        raise EndpointUnreachable(f"“{address}” names no index.", hint=f"An address looks like {EXAMPLE}.")
    check_prefix(segments[:-1], address)
    check_names(segments[-1], address)
    return "".join(f"/{segment}" for segment in segments[:-1]), segments[-1]
