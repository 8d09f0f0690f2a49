"""The `elasticsearch` client, which knows the APIs of the server: their paths and parameters, and the lines of a batch.

Its node class sends through `HttpClient`, whose limits and errors apply here, too. See docs/decisions/0004.
"""

from __future__ import annotations

from typing import Any

from elastic_transport import (
    ApiResponseMeta,
    BaseNode,
    HttpHeaders,
    JsonSerializer,
    NodeConfig,
    TransportApiResponse,
)
from elasticsearch import Elasticsearch

from relevancy.engines.errors import UnreadableResponse
from relevancy.engines.transport.client import HttpClient
from relevancy.engines.transport.response import check_is_json, read_json

_PRODUCT = "x-elastic-product"


class _Client(Elasticsearch):
    def perform_request(self, *arguments: Any, **options: Any) -> Any:
        """Returns the JSON of the response, as the client of OpenSearch does."""
        return super().perform_request(*arguments, **options).body


def open_client(http: HttpClient, prefix: str) -> Elasticsearch:
    """Returns a client that sends each request once, to paths below `prefix`. Raises only members of the `EngineError` family."""
    address = http.address
    root = address.base + prefix

    class Node(BaseNode):
        def perform_request(  # type: ignore[override]  # the class of its response is not public
            self, method: str, target: str, body: bytes | None = None, headers: Any = None, request_timeout: Any = None
        ) -> TransportApiResponse:
            # The client asks for the media type of its own major version, which only servers of that version and the one
            # before it know. All know plain JSON.
            plain = {"accept": "application/json"}
            if body is not None:
                is_lines = "ndjson" in headers["content-type"]
                plain["content-type"] = "application/x-ndjson" if is_lines else "application/json"
            response = http.send(method, prefix + target, body=body, headers=plain)
            check_is_json(response, root + target)
            if response.headers.get(_PRODUCT) != "Elasticsearch":
                raise UnreadableResponse(
                    f"{root} responds, but not as Elasticsearch does.",
                    hint="Check whether it is another product, such as OpenSearch, and choose that engine.",
                )
            # Other headers are dropped: a `warning` would become a Python warning about the user's query.
            kept = HttpHeaders({"content-type": "application/json", _PRODUCT: "Elasticsearch"})
            return TransportApiResponse(ApiResponseMeta(200, "1.1", kept, 0.0, self.config), response.body)

    class Serializer(JsonSerializer):
        def loads(self, data: bytes) -> Any:
            return read_json(data, root)

    return _Client(
        [NodeConfig(address.scheme, address.host, address.port)],
        node_class=Node,
        serializers={"application/json": Serializer()},
        max_retries=0,
        meta_header=False,
    )
