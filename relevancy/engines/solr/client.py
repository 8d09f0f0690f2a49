"""pysolr, sending its requests through `HttpClient`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import pysolr

from relevancy.engines.transport.client import HttpClient
from relevancy.engines.transport.response import Response

from .parameters import Parameters

_JSON = {"Content-Type": "application/json; charset=utf-8"}
_FORM = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}


@dataclass(frozen=True)
class _PysolrResponse:
    """The attributes of a response that pysolr reads."""

    status_code: int
    content: bytes
    headers: Mapping[str, str]


class _Session:
    """Replaces pysolr's HTTP session, so that a failure is an `EngineError` with status and the engine's own message.

    pysolr itself would raise an error without a status, and log it.
    """

    def __init__(self, client: HttpClient) -> None:
        self._client = client
        self._base = client.address.base

    def post(self, url: str, *, data: bytes, headers: Mapping[str, str], **_: object) -> _PysolrResponse:
        return self._convert(self._client.send("POST", url.removeprefix(self._base), body=data, headers=headers))

    def get(self, url: str, **_: object) -> _PysolrResponse:
        return self._convert(self._client.send("GET", url.removeprefix(self._base)))

    @staticmethod
    def _convert(response: Response) -> _PysolrResponse:
        # pysolr accepts no other status of success than 200.
        return _PysolrResponse(200, response.body, response.headers)


class SolrClient(pysolr.Solr):  # type: ignore[misc]
    """pysolr that always uses POST: it would put short queries into the URL, which proxies and access logs record."""

    def post(self, handler: str, parameters: Parameters) -> str:
        """Sends form parameters. Returns the text of the response."""
        return str(self._send_request("post", handler, body=urlencode(parameters), headers=_FORM))

    def post_json(self, handler: str, body: Mapping[str, Any]) -> str:
        """Sends a request of the JSON Request API. Returns the text of the response."""
        return str(self._send_request("post", handler, body=json.dumps(body, ensure_ascii=False), headers=_JSON))

    def get(self, path: str) -> str:
        """Returns the text of the response."""
        return str(self._send_request("get", path))


def open_solr(url: str, client: HttpClient) -> SolrClient:
    """Returns a client for the core at `url`. It raises only `EngineError`s and, for lone surrogates, `UnicodeEncodeError`."""
    return SolrClient(url, session=_Session(client))
