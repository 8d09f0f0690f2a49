"""The adapter for search APIs; `tests/contracts` tests its behaviour over HTTP."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from relevancy import engines, sandbox
from relevancy.engines import (
    BadQuery,
    Connection,
    EndpointRefused,
    EndpointUnreachable,
    Request,
    UnreadableResponse,
    UnsupportedByEngine,
)
from relevancy.engines.fields.values import field_names
from relevancy.optional.http_api.engine import HttpApiEngine
from relevancy.optional.http_api.engine.results import error_message
from relevancy.sandbox import MappedResponse, SandboxError, ScriptError
from tests.contracts.local_server import LocalServer, Reply, json_reply, serving
from tests.contracts.subject import LOOPBACK

RESPONSE = {"found": 2, "results": [{"id": 7, "title": "Seven"}, {"id": " x ", "title": "Ex", "maker": {"name": "M"}}]}


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with serving(lambda received: json_reply(RESPONSE)) as server:
        yield server


def engine_at(server: LocalServer, path: str = "/api/search", **options: str) -> HttpApiEngine:
    return HttpApiEngine(Connection("http", server.url + path, LOOPBACK, options={"hits": "results", **options}))


def request(template: str = "q=#$query##", fields: str = "*", rows: int = 10, **changes: Any) -> Request:
    return Request("star", engines.parse_template(template, "either"), engines.parse_fields(fields), rows, **changes)


def search(server: LocalServer, search_request: Request | None = None, **options: str) -> engines.Page:
    with engine_at(server, **options) as engine:
        return engine.search(search_request or request())


class TestRender:
    def test_query_string(self, server: LocalServer) -> None:
        page = search(server, request("q=#$query##&lang=de&q=a b&x=1%262"))
        assert server.received[0].method == "GET"
        assert server.received[0].path == "/api/search?q=star&lang=de&q=a+b&x=1%262"
        assert server.received[0].headers["accept"] == "application/json"
        assert page.rendered_request == {
            "method": "GET",
            "url": f"{server.url}/api/search",
            "params": [["q", "star"], ["lang", "de"], ["q", "a b"], ["x", "1&2"]],
        }

    def test_form(self, server: LocalServer) -> None:
        search(server, request("q=#$query##&x=ü"), method="POST", rows_parameter="n")
        received = server.received[0]
        assert (received.method, received.path, received.body) == ("POST", "/api/search", b"q=star&x=%C3%BC&n=10")
        assert received.headers["content-type"].startswith("application/x-www-form-urlencoded")

    def test_json_body(self, server: LocalServer) -> None:
        options = {"method": "POST", "rows_parameter": "page.size", "start_parameter": "page.from"}
        search(server, request('{"text": "#$query##", "page": {"x": 1, "size": 3}}', start=20), **options)
        assert json.loads(server.received[0].body) == {"text": "star", "page": {"x": 1, "size": 10, "from": 20}}
        assert server.received[0].headers["content-type"] == "application/json"

    def test_json_body_in_which_paging_cannot_be_set(self, server: LocalServer) -> None:
        with pytest.raises(BadQuery, match=r"“page\.size” cannot be set"):
            search(server, request('{"page": 3}'), method="POST", rows_parameter="page.size")
        assert not server.received

    def test_json_body_cannot_be_sent_with_get(self, server: LocalServer) -> None:
        with pytest.raises(BadQuery, match="choose POST"):
            search(server, request('{"q": "#$query##"}'))

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            ({}, "q=star&size=3"),
            ({"rows_parameter": "size"}, "q=star&size=9"),
            ({"start_parameter": "from"}, "q=star&size=3&from=4"),
            ({"rows_parameter": "size", "start_parameter": "from"}, "q=star&size=5&from=4"),
        ],
    )
    def test_paging_overrides_the_template(self, server: LocalServer, options: dict[str, str], expected: str) -> None:
        search(server, request("q=#$query##&size=3", rows=5, start=4), **options)
        assert server.received[0].path == f"/api/search?{expected}"

    def test_trailing_slash_is_kept(self, server: LocalServer) -> None:
        for path, expected in (("/api/", "/api/?q=star"), ("/api", "/api?q=star"), ("", "/?q=star")):
            with engine_at(server, path) as engine:
                engine.search(request())
            assert server.received[-1].path == expected


class TestResults:
    def test_ids_are_trimmed(self, server: LocalServer) -> None:
        page = search(server)
        assert [hit.id for hit in page.hits] == ["7", "x"]
        assert page.hits[1].fields == {"id": "x", "title": "Ex", "maker": {"name": "M"}}
        assert page.total is None

    def test_all_expressions(self, server: LocalServer) -> None:
        inner = {"key": 1.0, "w": 2, "doc": {"id": "inside", "t": "A"}}
        server.respond = lambda received: json_reply([{"n": 30.0, "l": [inner]}])
        options = {"hits": "[0].l", "id": "key", "document": "doc", "total": "[0].n", "score": "w"}
        page = search(server, **options)
        assert page.total == 30
        assert page.hits == (engines.Hit("1", 2.0, {"id": "1", "t": "A"}),)

    def test_id_field_of_the_specification(self, server: LocalServer) -> None:
        assert [hit.id for hit in search(server, request(fields="id:title title")).hits] == ["Seven", "Ex"]

    def test_hits_that_are_ids(self, server: LocalServer) -> None:
        server.respond = lambda received: json_reply({"results": [3, "b"]})
        assert [hit.fields for hit in search(server).hits] == [{"id": "3"}, {"id": "b"}]

    def test_total_of_an_empty_list_may_be_missing(self, server: LocalServer) -> None:
        server.respond = lambda received: json_reply({"results": []})
        assert (search(server, total="found").total, search(server, total="found").hits) == (None, ())

    def test_only_displayed_hits_are_read(self, server: LocalServer) -> None:
        server.respond = lambda received: json_reply({"results": [{"id": 1}, {"none": 2}]})
        assert [hit.id for hit in search(server, request(rows=1)).hits] == ["1"]

    def test_byte_order_mark(self, server: LocalServer) -> None:
        server.respond = lambda received: Reply(b"\xef\xbb\xbf" + json.dumps(RESPONSE).encode())
        assert len(search(server).hits) == 2

    def test_nan_and_infinity_become_null(self, server: LocalServer) -> None:
        server.respond = lambda received: json_reply({"results": [{"id": 1, "n": "nan", "l": ["inf"]}]})
        page = search(server, document="{n: to_number(n), l: map(&to_number(@), l), id: id}")
        assert page.hits[0].fields == {"n": None, "l": [None], "id": "1"}

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                {"hits": "items"},
                r"“items” \(option hits\) found nothing, not a list.*Lists in the response: results \(2\)",
            ),
            ({"hits": "found"}, r"found a number: 2, not a list of hits"),
            ({"hits": "results[0]"}, r"found an object: \{\"id\": 7, \"title\": \"Seven\"\}"),
            ({"total": "nofound"}, r"“nofound” \(option total\) found nothing, not a whole number"),
            ({"total": "results[0].title"}, r"found a string: \"Seven\", not a whole number"),
            ({"total": "`true`"}, r"found a boolean: true"),
            ({"score": "title"}, r"“title” \(option score\) found a string: \"Seven\", not a number.*to_number"),
            ({"score": "to_number('nan')"}, r"option score\) found a number: NaN, not a number"),
            (
                {"document": "title"},
                r"“title” \(option document\) found a string.*object of fields in hit 1.*The hit is an object",
            ),
            ({"document": "nodoc"}, r"found nothing, not the object of fields in hit 1"),
            (
                {"id": "sku"},
                r"Hit 1 has no id\. The expression “sku” \(option id\) found nothing\. .* no “sku”; it is an object with id, title\.",
            ),
            ({"total": "results[0].maker.size"}, r"“results\[0\]” has no “maker”; it is an object with id, title\."),
            ({"id": "@"}, r"found an object: .*, not the id of a document"),
            ({"id": "length(id)"}, r"“length\(id\)” \(option id\) cannot be applied"),
        ],
    )
    def test_values_of_the_wrong_type(self, server: LocalServer, options: dict[str, str], message: str) -> None:
        with pytest.raises(UnreadableResponse, match=message) as caught:
            search(server, **options)
        assert "endpoint" in caught.value.hint

    def test_long_values_are_truncated_in_messages(self, server: LocalServer) -> None:
        server.respond = lambda received: json_reply({"results": "x" * 5000})
        with pytest.raises(UnreadableResponse) as caught:
            search(server)
        assert "x" * 190 in str(caught.value)
        assert len(str(caught.value)) < 700

    def test_hit_without_id(self, server: LocalServer) -> None:
        server.respond = lambda received: json_reply({"results": [{"id": 1}, {"title": "B"}]})
        with pytest.raises(UnreadableResponse, match=r"Hit 2 has no id\. Its field “id” is missing or empty\..*title"):
            search(server)


class TestVersionAndFields:
    def test_test_query_checks_the_expressions(self, server: LocalServer) -> None:
        with engine_at(server, template="q=#$query##&b=##boost##&size=2", test_query="shoes") as engine:
            assert engine.version() == "HTTP API"
            assert engine.fields() == ["id", "maker.name", "title"]
        assert [received.path for received in server.received] == ["/api/search?q=shoes&b=10&size=2"]
        with engine_at(server, hits="items", template="q=#$query##") as engine, pytest.raises(UnreadableResponse):
            engine.version()

    def test_without_template_only_the_connection_is_tested(self, server: LocalServer) -> None:
        with engine_at(server) as engine:
            assert engine.version() == "HTTP API"
            assert engine.fields() == []
        assert [received.path for received in server.received] == ["/api/search"]

    @pytest.mark.parametrize(
        ("method", "status", "error"),
        [
            ("GET", 400, None),
            ("GET", 405, None),
            ("GET", 422, None),
            ("POST", 404, None),
            ("GET", 404, EndpointUnreachable),
            ("GET", 401, EndpointRefused),
            ("POST", 403, EndpointRefused),
            ("GET", 301, UnreadableResponse),
            ("GET", 500, UnreadableResponse),
        ],
    )
    def test_without_template_depends_on_the_status(
        self, server: LocalServer, method: str, status: int, error: Any
    ) -> None:
        server.respond = lambda received: Reply(b"", status)
        with engine_at(server, method=method) as engine:
            if error is None:
                assert engine.version() == "HTTP API"
            else:
                with pytest.raises(error):
                    engine.version()

    def test_query_options_of_the_endpoint_are_used(self, server: LocalServer) -> None:
        options: dict[str, Any] = {"hits": "results", "template": "l=#$qOption.lang##", "query_options": {"lang": "de"}}
        with HttpApiEngine(Connection("http", server.url, LOOPBACK, options=options)) as engine:
            engine.version()
        assert server.received[0].path == "/?l=de"

    def test_field_names(self) -> None:
        deep = {"a": {"b": {"c": {"d": 1}}}, "e": {}, "f": [{"g": 1}]}
        assert field_names([deep, {"z": None}]) == ["a.b.c", "e", "f", "z"]


class TestLookup:
    FIELDS = engines.parse_fields("id title")

    def test_without_the_option(self, server: LocalServer) -> None:
        with engine_at(server) as engine, pytest.raises(UnsupportedByEngine, match="option lookup"):
            engine.lookup(["7"], self.FIELDS)

    def test_ids_are_quoted(self, server: LocalServer) -> None:
        server.respond = lambda received: json_reply({"error": "none"}, 404)
        with engine_at(server, lookup="/p/{id}/full") as engine:
            assert engine.lookup(["../a?b#c", "..", ".", "é%"], self.FIELDS) == []
        assert sorted(received.path for received in server.received) == ["/p/%C3%A9%25/full", "/p/..%2Fa%3Fb%23c/full"]

    def test_list_at_the_address_itself(self, server: LocalServer) -> None:
        with engine_at(server, lookup="?ids={id}") as engine:
            hits = engine.lookup(["x", "7", "absent", "x"], self.FIELDS)
        assert [(hit.id, hit.score, hit.fields["title"]) for hit in hits] == [("x", None, "Ex"), ("7", None, "Seven")]
        assert sorted(received.path for received in server.received)[0] == "/api/search?ids=7"

    def test_other_errors_are_raised(self, server: LocalServer) -> None:
        server.respond = lambda received: Reply(b"no", 403)
        with engine_at(server, lookup="/p/{id}") as engine, pytest.raises(EndpointRefused):
            engine.lookup(["7"], self.FIELDS)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"message": "a"}, "a"),
        ({"error": {"code": 3, "message": "b"}}, "b"),
        ({"errors": [{"detail": "c"}]}, "c"),
        ({"error": "d", "status": 400}, "d"),
        (["e"], "e"),
        ({"error": {"error": {"error": {"error": {"error": "too deep"}}}}}, ""),
        ({"error": 7}, ""),
        ({}, ""),
        ([], ""),
        (None, ""),
    ],
)
def test_error_message(body: Any, message: str) -> None:
    assert error_message(body) == message


class TestMapper:
    """A mapper script instead of expressions; `tests/sandbox/test_mapper.py` tests how it is run."""

    @pytest.fixture(autouse=True)
    def scripts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Instead of the sandbox: `returned`, or raised, for what is `given`."""
        self.given: list[tuple[str, str]] = []
        self.returned: MappedResponse | SandboxError = MappedResponse()

        def map_response(script: str, response: str, *, console: bool) -> MappedResponse:
            self.given.append((script, response))
            if isinstance(self.returned, SandboxError):
                raise self.returned
            return self.returned

        monkeypatch.setattr(sandbox, "map_response", map_response)

    def search(
        self, server: LocalServer, returned: MappedResponse | SandboxError, fields: str = "*", rows: int = 10
    ) -> engines.Page:
        self.given, self.returned = [], returned
        connection = Connection("http", server.url + "/api", LOOPBACK, options={"mapper": "docsMapper = …"})
        with HttpApiEngine(connection) as engine:
            return engine.search(request(fields=fields, rows=rows))

    def test_documents_and_total(self, server: LocalServer) -> None:
        documents = ({"id": 7, "title": "Seven"}, {"id": " x "}, {"id": "y"})
        page = self.search(server, MappedResponse(documents, 40.0), rows=2)
        assert [(hit.id, dict(hit.fields)) for hit in page.hits] == [
            ("7", {"id": "7", "title": "Seven"}),
            ("x", {"id": "x"}),
        ]
        assert page.total == 40
        assert self.given == [("docsMapper = …", json.dumps(RESPONSE))]
        assert self.search(server, MappedResponse(())).total is None

    @pytest.mark.parametrize(
        ("result", "message"),
        [
            (ScriptError("broken", 2), r"The mapper script failed\. Line 2: broken\."),
            (MappedResponse(error="Line 2: broken"), r"The mapper script failed\. Line 2: broken\."),
            (MappedResponse((), 1.5), r"numberOfResultsMapper returned 1\.5"),
            (MappedResponse((), -1), r"returned -1, which is not a number of documents"),
            (
                MappedResponse(
                    (
                        {"id": 1},
                        {"title": "x"},
                    )
                ),
                r"Hit 2 has no id.*Let docsMapper give each document an id",
            ),
            (MappedResponse(({"id": [1]},)), r"Hit 1 has no id"),
        ],
    )
    def test_failures(self, server: LocalServer, result: MappedResponse | SandboxError, message: str) -> None:
        with pytest.raises(UnreadableResponse, match=message):
            self.search(server, result)

    def test_a_response_may_be_text_but_not_of_any_size(self, server: LocalServer) -> None:
        server.respond = lambda received: Reply(b"<p>busy</p>", 200, {"content-type": "text/html"})
        assert self.search(server, MappedResponse(({"id": 1},))).hits[0].id == "1"
        server.respond = lambda received: Reply(b"x" * 5_000_001, 200, {"content-type": "text/plain"})
        with pytest.raises(UnreadableResponse, match="5,000,001 characters"):
            self.search(server, MappedResponse(()))
        assert self.given == []
