"""Addresses of indices: `http://localhost:9200/products`."""

from __future__ import annotations

from relevancy.engines.errors import EndpointUnreachable
from relevancy.engines.transport.addresses import Address

EXAMPLE = "http://localhost:9200/products"
_SEARCH_APIS = ("_search", "_msearch")


def prefix_and_index(address: Address) -> tuple[str, str]:
    """Returns the path before the index (empty, or beginning with a slash) and the index of an address such as `…/products`.

    Raises `EndpointUnreachable` if the address names no index.
    """
    segments = [segment for segment in address.path.split("/") if segment]
    if segments and segments[-1] in _SEARCH_APIS:
        segments.pop()
    if not segments or segments[-1].startswith("_"):
        raise EndpointUnreachable(f"“{address}” names no index.", hint=f"An address looks like {EXAMPLE}.")
    return "".join(f"/{segment}" for segment in segments[:-1]), segments[-1]
