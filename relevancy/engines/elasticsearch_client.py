"""The `elasticsearch` client, made to send through our HTTP client and to speak to servers 7.17, 8 and 9."""

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

from .addresses import Address
from .answers import not_json, read_json
from .errors import UnreadableAnswer
from .http import HttpClient


class PlainTransport(Transport):
    """Asks for plain JSON. The client would ask for the form of its own major version, which only that version and the
    one before it speak; plain JSON is spoken by all of them."""

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
    """Sends through `HttpClient`: its limits and its errors hold here too. Other errors than ours cannot arise."""

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
        """As `BaseNode.perform_request`; time-outs are those of the connection."""
        path = self.path_prefix + target
        answer = self._client.send(method, path, body=body, headers=headers)
        kind = answer.headers.get("content-type", "").partition(";")[0]
        if method != "HEAD" and not kind.endswith("json"):
            raise not_json(answer.body, self._client.address.base + path.partition("?")[0])
        shown = {name: answer.headers[name] for name in ("content-type", "x-elastic-product") if name in answer.headers}
        # Other headers stay out: a `warning` would become a Python warning about the user's query.
        return NodeApiResponse(ApiResponseMeta(answer.status, "1.1", HttpHeaders(shown), 0.0, self.config), answer.body)

    def close(self) -> None:
        """The HTTP client is closed by who made it."""


class _Serializer(JsonSerializer):
    def __init__(self, where: str) -> None:
        self._where = where

    def loads(self, data: bytes) -> Any:
        return read_json(data.decode("utf-8", "replace"), self._where)


class _Caller:
    """What `DslIndex` sends through."""

    def __init__(self, elastic: Elasticsearch, where: str) -> None:
        self._elastic = elastic
        self._where = where

    def perform(self, method: str, path: str, body: Any = None, *, lines: bool = False) -> Any:
        try:
            return self._elastic.perform_request(method, path, headers=_headers(body, lines), body=body).body
        except UnsupportedProductError as error:
            raise UnreadableAnswer(
                f"{self._where} answers, but not as Elasticsearch does.",
                todo="Is this another product, such as OpenSearch?",
            ) from error
        except (ApiError, TransportError) as error:
            raise UnreadableAnswer(f"{self._where} answered in a way its client cannot read: {error}.") from error

    def close(self) -> None:
        self._elastic.close()


def open_elasticsearch(client: HttpClient, address: Address, prefix: str, where: str) -> _Caller:
    """The client, which sends each request once through `client`, to paths below `prefix`."""
    config = NodeConfig(
        address.scheme, address.host, address.port, path_prefix=prefix, _extras={"_relevancy_client": client}
    )
    elastic = Elasticsearch(
        [config],
        transport_class=PlainTransport,
        node_class=_Node,
        serializers={"application/json": _Serializer(address.base)},
        max_retries=0,
        meta_header=False,
    )
    return _Caller(elastic, where)


def _headers(body: Any, lines: bool) -> Mapping[str, str]:
    accepted = {"accept": "application/json"}
    if body is None:
        return accepted
    return {**accepted, "content-type": "application/x-ndjson" if lines else "application/json"}
