"""Both contracts for the engine `http`, against a small search API that is queried in several ways."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest

from relevancy import engines
from relevancy.engines import Connection
from tests.contracts.engine_contract import EngineContract
from tests.contracts.fakes import ranked
from tests.contracts.http_contract import HttpContract
from tests.contracts.local_server import ReceivedRequest, Reply, json_reply, serving
from tests.contracts.subject import DOCS, LOOPBACK, EngineUnderTest

OPTIONS = {
    "hits": "result.items",
    "id": "ref",
    "document": "product",
    "total": "result.count",
    "score": "weight",
    "rows_parameter": "size",
    "start_parameter": "from",
    "test_query": "star",
    "lookup": "/shop/products/{id}",
}
QUERY = "q=#$query##"
BODY = '{"text": "#$query##", "page": {}}'


def fake_shop(received: ReceivedRequest) -> Reply:
    """Serves `/shop/search` by query string, form or JSON body (paging in `page`), and `/shop/products/<id>`."""
    target = urlsplit(received.path)
    if target.path.startswith("/shop/products/"):
        doc_id = unquote(target.path.removeprefix("/shop/products/"))
        matches = [_item(0, doc) for doc in DOCS if doc["id"] == doc_id]
        return json_reply(matches[0]) if matches else json_reply({"message": "no such product"}, 404)
    if target.path != "/shop/search":
        return json_reply({"message": f"nothing at {target.path}"}, 404)
    if received.headers.get("content-type") == "application/json":
        body = json.loads(received.body)
        return _search({"q": body.get("text"), **body["page"], "mode": body.get("mode")})
    form = received.body.decode() if received.method == "POST" else target.query
    return _search(dict(parse_qsl(form, keep_blank_values=True)))


def _search(params: Mapping[str, Any]) -> Reply:
    if params.get("mode") == "nonsense":
        return json_reply({"errors": [{"code": 7, "message": "unknown mode: nonsense"}]}, 422)
    matches = ranked(str(params.get("q", "")))
    start, size = int(params.get("from", 0)), int(params.get("size", 10))
    items = [_item(score, doc) for score, doc in matches[start : start + size]]
    return json_reply({"took": 3, "result": {"count": len(matches), "items": items}})


def _item(score: float, doc: Mapping[str, Any]) -> dict[str, Any]:
    return {"ref": doc["id"], "weight": score, "product": {name: doc[name] for name in doc if name != "id"}}


def shop_subject(
    url: str, missing_url: str, template: str = QUERY, invalid: str = "&mode=nonsense", **options: str
) -> EngineUnderTest:
    """Returns the shop with `DOCS`. `invalid`: what the shop rejects if it is added to the template."""
    return EngineUnderTest(
        connection=Connection("http", url, LOOPBACK, options={**OPTIONS, "template": template, **options}),
        template=engines.parse_template(template, "either"),
        fields=engines.parse_fields("id:id title:title year genres"),
        rejected_template=engines.parse_template(
            template.replace("}}", f"}}{invalid}}}") if "{" in template else template + invalid, "either"
        ),
        rejection="unknown mode: nonsense",
        missing_url=missing_url,
        version_pattern="HTTP API",
    )


class ShopContract(EngineContract):
    key = "http"
    settings: Mapping[str, str]

    @pytest.fixture(scope="class")
    @classmethod
    def subject(cls) -> Iterator[EngineUnderTest]:
        with serving(fake_shop) as server:
            yield shop_subject(f"{server.url}/shop/search", f"{server.url}/absent", **cls.settings)


class TestQueryString(ShopContract):
    settings = {}


class TestForm(ShopContract):
    settings = {"method": "POST"}


class TestJsonBody(ShopContract):
    settings = {
        "method": "POST",
        "template": BODY,
        "invalid": ', "mode": "nonsense"',
        "rows_parameter": "page.size",
        "start_parameter": "page.from",
    }


class TestWithoutPaging(ShopContract):
    """The adapter cuts the results itself."""

    settings = {"rows_parameter": "", "start_parameter": ""}


class TestMisbehaving(HttpContract):
    key = "http"
    healthy = staticmethod(fake_shop)
    path = "/shop/search"

    @pytest.fixture
    def subject(self, server: Any) -> EngineUnderTest:
        return shop_subject(server.url + self.path, server.url + "/absent")

    @classmethod
    def hits_reply(cls, ids: list[str]) -> Reply:
        items = [{"ref": doc_id, "weight": 1.5, "product": {"title": f"Title of {doc_id}"}} for doc_id in ids]
        return json_reply({"result": {"count": len(items), "items": items}})
