"""The `opensearch-py` client, made to send through our HTTP client."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from opensearchpy import Connection as ClientConnection
from opensearchpy import JSONSerializer, OpenSearch, OpenSearchException

from .addresses import Address
from .answers import not_json, read_json
from .errors import UnreadableAnswer
from .http import HttpClient

_JSON = {"accept": "application/json"}


class _Connection(ClientConnection):
    """Sends through `HttpClient`: its limits and its errors hold here too. Other errors than ours cannot arise."""

    def __init__(self, *, relevancy_client: HttpClient, **options: Any) -> None:
        super().__init__(**options)
        self._client = relevancy_client

    def perform_request(
        self,
        method: str,
        url: str,
        params: Mapping[str, Any] | None = None,
        body: bytes | None = None,
        timeout: float | None = None,
        ignore: Collection[int] = (),
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, dict[str, str], str]:
        """Status, headers and text of an answer, which is a success; time-outs are those of our connection."""
        path = self.url_prefix + url
        answer = self._client.send(method, path, body=body, headers=headers)
        where = self._client.address.base + path.partition("?")[0]
        if not answer.headers.get("content-type", "").partition(";")[0].endswith("json") or not answer.body:
            raise not_json(answer.body, where)
        if "x-elastic-product" in answer.headers:
            raise UnreadableAnswer(
                f"{where} answers, but not as OpenSearch does: it is {answer.headers['x-elastic-product']}.",
                todo="Choose that engine for this endpoint.",
            )
        # Other headers stay out: a `warning` would become a Python warning about the user's query.
        return answer.status, {"content-type": "application/json"}, answer.body.decode("utf-8", "replace")


class _Serializer(JSONSerializer):
    def __init__(self, where: str) -> None:
        self._where = where

    def loads(self, s: str) -> Any:
        return read_json(s, self._where)


class _Caller:
    """What `DslIndex` sends through."""

    def __init__(self, client: OpenSearch, where: str) -> None:
        self._client = client
        self._where = where

    def perform(self, method: str, path: str, body: Any = None, *, lines: bool = False) -> Any:
        headers = _JSON
        if body is not None:
            headers = {**_JSON, "content-type": "application/x-ndjson" if lines else "application/json"}
            body = "".join(json.dumps(line) + "\n" for line in body) if lines else body
        try:
            return self._client.transport.perform_request(method, path, headers=headers, body=body)
        except OpenSearchException as error:
            raise UnreadableAnswer(f"{self._where} answered in a way its client cannot read: {error}.") from error

    def close(self) -> None:
        """The HTTP client is closed by who made it, and nothing else is open."""


def open_opensearch(client: HttpClient, address: Address, prefix: str, where: str) -> _Caller:
    """The client, which sends each request once through `client`, to paths below `prefix`."""
    host = {"host": address.host, "port": address.port, "use_ssl": address.scheme == "https", "url_prefix": prefix}
    opensearch = OpenSearch(
        [host],
        connection_class=_Connection,
        serializer=_Serializer(address.base),
        max_retries=0,
        retry_on_status=(),
        relevancy_client=client,
    )
    return _Caller(opensearch, where)
