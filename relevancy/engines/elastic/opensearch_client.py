"""The `opensearch-py` client, which knows the APIs of the server: their paths and parameters, and the lines of a batch.

Its connection class sends through `HttpClient`, whose limits and errors apply here, too. See docs/decisions/0004.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from opensearchpy import Connection, JSONSerializer, OpenSearch

from relevancy.engines.errors import UnreadableResponse
from relevancy.engines.transport.client import HttpClient
from relevancy.engines.transport.response import check_is_json, read_json

_JSON = {"accept": "application/json", "content-type": "application/json"}


def open_client(http: HttpClient, prefix: str) -> OpenSearch:
    """Returns a client that sends each request once, to paths below `prefix`. Raises only members of the `EngineError` family."""
    root = http.address.base + prefix

    class ClientConnection(Connection):
        def perform_request(
            self,
            method: str,
            url: str,
            params: Mapping[str, Any] | None = None,
            body: bytes | None = None,
            *_: object,
            **__: object,
        ) -> tuple[int, dict[str, str], str]:
            target = f"{url}?{urlencode(params)}" if params else url
            response = http.send(method, prefix + target, body=body, headers=_JSON)
            check_is_json(response, root + url)
            if product := response.headers.get("x-elastic-product"):
                raise UnreadableResponse(
                    f"{root}{url} responds, but it is {product}, not OpenSearch.",
                    hint="Choose that engine for this endpoint.",
                )
            # Other headers are dropped: a `warning` would become a Python warning about the user's query.
            return response.status, {"content-type": "application/json"}, response.body.decode("utf-8", "replace")

    class Serializer(JSONSerializer):
        def loads(self, s: str) -> Any:
            return read_json(s, root)

    return OpenSearch(
        [{}], connection_class=ClientConnection, serializer=Serializer(), max_retries=0, retry_on_status=()
    )
