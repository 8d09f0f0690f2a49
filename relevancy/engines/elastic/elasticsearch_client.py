"""The `elasticsearch` client, sending its requests through `HttpClient` to servers 7.17, 8 and 9."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from elastic_transport import (
    ApiResponseMeta,
    BaseNode,
    HttpHeaders,
    JsonSerializer,
    NodeConfig,
    Transport,
    TransportApiResponse,
    TransportError,
)
from elastic_transport._node import NodeApiResponse
from elastic_transport.client_utils import DEFAULT
from elasticsearch import ApiError, Elasticsearch, UnsupportedProductError

from relevancy.engines.errors import UnreadableResponse
from relevancy.engines.transport.addresses import Address
from relevancy.engines.transport.client import HttpClient
from relevancy.engines.transport.response import not_json, read_json


class PlainTransport(Transport):
    """Requests plain JSON. The client would request the media type of its own major version, which only servers of that
    version and the one before it accept; all accept plain JSON."""

    def perform_request(  # type: ignore[override]
        self, method: str, target: str, *, headers: Any = DEFAULT, **kwargs: Any
    ) -> TransportApiResponse:
        """As `Transport.perform_request`."""
        plain = dict(headers or {})
        for name, value in plain.items():
            if name.lower() in ("accept", "content-type"):
                plain[name] = "application/x-ndjson" if "ndjson" in value else "application/json"
        return super().perform_request(method, target, headers=plain, **kwargs)


class _Node(BaseNode):
    """Sends through `HttpClient`, whose limits and errors apply here too."""

    _CLIENT_META_HTTP_CLIENT = ("ur", "2")

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._client: HttpClient = config._extras["_relevancy_client"]

    def perform_request(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        headers: HttpHeaders | None = None,
        request_timeout: Any = DEFAULT,
    ) -> NodeApiResponse:
        """As `BaseNode.perform_request`; the time-outs are those of the connection."""
        path = self.path_prefix + target
        response = self._client.send(method, path, body=body, headers=headers)
        content_type = response.headers.get("content-type", "").partition(";")[0]
        if method != "HEAD" and not content_type.endswith("json"):
            raise not_json(response.body, self._client.address.base + path.partition("?")[0])
        # Other headers are dropped: a `warning` would become a Python warning about the user's query.
        kept = {
            name: response.headers[name] for name in ("content-type", "x-elastic-product") if name in response.headers
        }
        return NodeApiResponse(
            ApiResponseMeta(response.status, "1.1", HttpHeaders(kept), 0.0, self.config), response.body
        )

    def close(self) -> None:
        """Does nothing: the adapter closes the HTTP client."""


class _Serializer(JsonSerializer):
    def __init__(self, url: str) -> None:
        self._url = url

    def loads(self, data: bytes) -> Any:
        return read_json(data.decode("utf-8", "replace"), self._url)


class _Client:
    def __init__(self, elasticsearch: Elasticsearch, url: str) -> None:
        self._elasticsearch = elasticsearch
        self._url = url

    def perform(self, method: str, path: str, body: Any = None, *, lines: bool = False) -> Any:
        try:
            return self._elasticsearch.perform_request(method, path, headers=_headers(body, lines), body=body).body
        except UnsupportedProductError as error:
            raise UnreadableResponse(
                f"{self._url} responds, but not as Elasticsearch does.",
                hint="Check whether it is another product, such as OpenSearch, and choose that engine.",
            ) from error
        except (ApiError, TransportError) as error:
            raise UnreadableResponse(f"The response of {self._url} is not valid: {error}.") from error

    def close(self) -> None:
        self._elasticsearch.close()


def open_elasticsearch(client: HttpClient, address: Address, prefix: str, url: str) -> _Client:
    """Returns a client that sends each request once through `client`, to paths below `prefix`."""
    config = NodeConfig(
        address.scheme, address.host, address.port, path_prefix=prefix, _extras={"_relevancy_client": client}
    )
    elasticsearch = Elasticsearch(
        [config],
        transport_class=PlainTransport,
        node_class=_Node,
        serializers={"application/json": _Serializer(address.base)},
        max_retries=0,
        meta_header=False,
    )
    return _Client(elasticsearch, url)


def _headers(body: Any, lines: bool) -> Mapping[str, str]:
    accept = {"accept": "application/json"}
    if body is None:
        return accept
    return {**accept, "content-type": "application/x-ndjson" if lines else "application/json"}
