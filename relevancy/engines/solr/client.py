"""pysolr, which encodes the parameters of searches, reads their responses and adds documents.

Its session sends through `HttpClient`, whose limits and errors apply here, too: pysolr's own errors have no status. See
docs/decisions/0004.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pysolr

from relevancy.engines.transport.client import HttpClient
from relevancy.engines.transport.response import read_json

_FORM = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}


class _Session:
    def __init__(self, http: HttpClient) -> None:
        self._http = http

    def get(self, url: str, **_options: object) -> SimpleNamespace:
        """Sends a search as a form. pysolr would put a short query into the address, which proxies and access logs record."""
        handler, _, form = url.partition("?")
        return self.post(handler, data=form.encode(), headers=_FORM)

    def post(self, url: str, *, data: bytes, headers: Mapping[str, str], **_options: object) -> SimpleNamespace:
        path = url.removeprefix(self._http.address.base).rstrip("/")
        response = self._http.send("POST", path, body=data, headers=headers)
        return SimpleNamespace(status_code=200, content=response.body)  # pysolr accepts no other status of success


class _Decoder:
    def __init__(self, url: str) -> None:
        self._url = url

    def decode(self, text: str) -> dict[str, Any]:
        response = read_json(text, self._url)
        if not isinstance(response.get("response"), dict):  # pysolr would fail with an AttributeError
            response.pop("response", None)
        return response


def open_client(http: HttpClient, core_url: str, handler: str) -> pysolr.Solr:
    """Returns a client whose searches return the JSON of the response. Raises only members of the `EngineError` family."""
    return pysolr.Solr(
        core_url,
        decoder=_Decoder(f"{core_url}/{handler}"),
        results_cls=lambda response, *_: response,
        search_handler=handler,
        session=_Session(http),
    )
