"""The `opensearch-py` client, sending its requests through `HttpClient`."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from opensearchpy import Connection as ClientConnection
from opensearchpy import JSONSerializer, OpenSearch, OpenSearchException

from relevancy.engines.errors import UnreadableResponse
from relevancy.engines.transport.addresses import Address
from relevancy.engines.transport.client import HttpClient
from relevancy.engines.transport.response import not_json, read_json

_ACCEPT_JSON = {"accept": "application/json"}


class _Connection(ClientConnection):
    """Sends through `HttpClient`, whose limits and errors apply here too."""

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
        """Returns status, headers and text of a successful response; the time-outs are those of the connection."""
        path = self.url_prefix + url
        response = self._client.send(method, path, body=body, headers=headers)
        full_url = self._client.address.base + path.partition("?")[0]
        content_type = response.headers.get("content-type", "").partition(";")[0]
        if not content_type.endswith("json") or not response.body:
            raise not_json(response.body, full_url)
        if "x-elastic-product" in response.headers:
            raise UnreadableResponse(
                f"{full_url} responds, but it is {response.headers['x-elastic-product']}, not OpenSearch.",
                hint="Choose that engine for this endpoint.",
            )
        # Other headers are dropped: a `warning` would become a Python warning about the user's query.
        return response.status, {"content-type": "application/json"}, response.body.decode("utf-8", "replace")


class _Serializer(JSONSerializer):
    def __init__(self, url: str) -> None:
        self._url = url

    def loads(self, s: str) -> Any:
        return read_json(s, self._url)


class _Client:
    def __init__(self, opensearch: OpenSearch, url: str) -> None:
        self._opensearch = opensearch
        self._url = url

    def perform(self, method: str, path: str, body: Any = None, *, lines: bool = False) -> Any:
        headers = _ACCEPT_JSON
        if body is not None:
            headers = {**_ACCEPT_JSON, "content-type": "application/x-ndjson" if lines else "application/json"}
            body = "".join(json.dumps(line) + "\n" for line in body) if lines else body
        try:
            return self._opensearch.transport.perform_request(method, path, headers=headers, body=body)
        except OpenSearchException as error:
            raise UnreadableResponse(f"The response of {self._url} is not valid: {error}.") from error

    def close(self) -> None:
        """Does nothing: the adapter closes the HTTP client, and nothing else is open."""


def open_opensearch(client: HttpClient, address: Address, prefix: str, url: str) -> _Client:
    """Returns a client that sends each request once through `client`, to paths below `prefix`."""
    host = {"host": address.host, "port": address.port, "use_ssl": address.scheme == "https", "url_prefix": prefix}
    opensearch = OpenSearch(
        [host],
        connection_class=_Connection,
        serializer=_Serializer(address.base),
        max_retries=0,
        retry_on_status=(),
        relevancy_client=client,
    )
    return _Client(opensearch, url)
