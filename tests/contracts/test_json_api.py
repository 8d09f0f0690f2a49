"""The engine contract for the `http` engine, against a small search API of no known make, asked in three ways."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest

from relevancy import engines
from relevancy.engines import Connection

from .engine_contract import EngineContract
from .fakes import ranked
from .http_contract import HttpContract
from .local_server import Asked, Reply, json_reply, serving
from .stand import DOCS, LOOPBACK, Stand

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


def fake_shop(asked: Asked) -> Reply:
    """`/shop/search` by query string, form or JSON body, which has paging in `page`; `/shop/products/<id>`."""
    target = urlsplit(asked.path)
    if target.path.startswith("/shop/products/"):
        doc_id = unquote(target.path.removeprefix("/shop/products/"))
        found = [_item(0, doc) for doc in DOCS if doc["id"] == doc_id]
        return json_reply(found[0]) if found else json_reply({"message": "no such product"}, 404)
    if target.path != "/shop/search":
        return json_reply({"message": f"nothing at {target.path}"}, 404)
    if asked.headers.get("content-type") == "application/json":
        body = json.loads(asked.body)
        return _answer({"q": body.get("text"), **body["page"], "mode": body.get("mode")})
    given = asked.body.decode() if asked.method == "POST" else target.query
    return _answer(dict(parse_qsl(given, keep_blank_values=True)))


def _answer(params: Mapping[str, Any]) -> Reply:
    if params.get("mode") == "nonsense":
        return json_reply({"errors": [{"code": 7, "message": "unknown mode: nonsense"}]}, 422)
    found = ranked(str(params.get("q", "")))
    start, size = int(params.get("from", 0)), int(params.get("size", 10))
    items = [_item(score, doc) for score, doc in found[start : start + size]]
    return json_reply({"took": 3, "result": {"count": len(found), "items": items}})


def _item(score: float, doc: Mapping[str, Any]) -> dict[str, Any]:
    return {"ref": doc["id"], "weight": score, "product": {name: doc[name] for name in doc if name != "id"}}


def shop_stand(url: str, missing: str, template: str = QUERY, more: str = "&mode=nonsense", **options: str) -> Stand:
    """`DOCS` in the shop; `more` makes the template a bad one."""
    return Stand(
        connection=Connection("http", url, LOOPBACK, options={**OPTIONS, "template": template, **options}),
        template=engines.parse_template(template, "either"),
        fields=engines.parse_fields("id:id title:title year genres"),
        bad=engines.parse_template(
            template.replace("}}", f"}}{more}}}") if "{" in template else template + more, "either"
        ),
        bad_words="unknown mode: nonsense",
        missing=missing,
        version="HTTP API",
    )


class ShopContract(EngineContract):
    ways: Mapping[str, str]

    @pytest.fixture(scope="class")
    @classmethod
    def stand(cls) -> Iterator[Stand]:
        with serving(fake_shop) as server:
            yield shop_stand(f"{server.url}/shop/search", f"{server.url}/absent", **cls.ways)


class TestQueryString(ShopContract):
    ways = {}


class TestForm(ShopContract):
    ways = {"method": "POST"}


class TestJsonBody(ShopContract):
    ways = {
        "method": "POST",
        "template": BODY,
        "more": ', "mode": "nonsense"',
        "rows_parameter": "page.size",
        "start_parameter": "page.from",
    }


class TestWithoutPaging(ShopContract):
    """What comes is cut here."""

    ways = {"rows_parameter": "", "start_parameter": ""}


class TestMisbehaving(HttpContract):
    healthy = staticmethod(fake_shop)
    path = "/shop/search"

    @pytest.fixture
    def stand(self, server: Any) -> Stand:
        return shop_stand(server.url + self.path, server.url + "/absent")

    @classmethod
    def hits_reply(cls, ids: list[str]) -> Reply:
        items = [{"ref": doc_id, "weight": 1.5, "product": {"title": f"Title of {doc_id}"}} for doc_id in ids]
        return json_reply({"result": {"count": len(items), "items": items}})
