"""pysolr, made to send through our HTTP client."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import pysolr

from .answers import Answer
from .http import HttpClient
from .solr_params import Pairs

_JSON = {"Content-Type": "application/json; charset=utf-8"}
_FORM = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}


@dataclass(frozen=True)
class _Response:
    """What pysolr looks at in an answer."""

    status_code: int
    content: bytes
    headers: Mapping[str, str]


class _Session:
    """Stands where pysolr expects its HTTP session. Sends through our client, so that a failure reaches the caller as
    one of our errors with its status and the engine's words; pysolr itself would give text, and log it."""

    def __init__(self, client: HttpClient) -> None:
        self._client = client
        self._base = client.address.base

    def post(self, url: str, *, data: bytes, headers: Mapping[str, str], **_: object) -> _Response:
        return self._response(self._client.send("POST", url.removeprefix(self._base), body=data, headers=headers))

    def get(self, url: str, **_: object) -> _Response:
        return self._response(self._client.send("GET", url.removeprefix(self._base)))

    @staticmethod
    def _response(answer: Answer) -> _Response:
        # pysolr takes 200 for the only success.
        return _Response(200, answer.body, answer.headers)


class SolrClient(pysolr.Solr):  # type: ignore[misc]
    """pysolr, always by POST: it would put short queries into the address, where proxies and access logs keep them."""

    def post(self, handler: str, pairs: Pairs) -> str:
        """The text of an answer."""
        return str(self._send_request("post", handler, body=urlencode(pairs), headers=_FORM))

    def post_json(self, handler: str, body: Mapping[str, Any]) -> str:
        """The text of an answer to a request of the JSON Request API."""
        return str(self._send_request("post", handler, body=json.dumps(body, ensure_ascii=False), headers=_JSON))

    def get(self, path: str) -> str:
        """The text of an answer."""
        return str(self._send_request("get", path))


def open_solr(core: str, client: HttpClient) -> SolrClient:
    """A client for the core at this URL. Raises members of `EngineError` and nothing else, except `UnicodeEncodeError`."""
    return SolrClient(core, session=_Session(client))
