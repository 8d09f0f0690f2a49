"""The presets: each sends what its product expects, and reads answers written after its documentation, oddities included."""

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from relevancy import engines
from relevancy.engines import BadQuery, Connection, UnreadableResponse
from relevancy.engines.types import Preset
from relevancy.optional.http_api.engine import HttpApiEngine
from relevancy.optional.http_api.engine.expressions import compile_expression
from relevancy.optional.http_api.engine.options import OPTIONS
from relevancy.optional.http_api.engine.presets import PRESETS
from tests.contracts.local_server import LocalServer, json_reply, serving
from tests.contracts.subject import LOOPBACK

BY_KEY = {preset.key: preset for preset in PRESETS}


@dataclass(frozen=True)
class Example:
    """A response of a product, and what has to be found in it. sent: what the request has to contain. empty: without results."""

    response: Any
    sent: dict[str, Any]
    ids: list[str]
    title: str
    total: int | None
    scores: list[float | None]
    empty: Any
    title_field: str = "title"
    error: Any = None
    error_text: str = ""
    changes: dict[str, str] = field(default_factory=dict)


EXAMPLES = {
    "vespa": Example(
        response={
            "root": {
                "id": "toplevel",
                "relevance": 1.0,
                "fields": {"totalCount": 31},
                "coverage": {"coverage": 100, "documents": 900, "full": True, "nodes": 2},
                "children": [
                    {"id": "group:root:0", "relevance": 1.0, "continuation": {"this": ""}, "children": []},
                    {
                        "id": "index:films/0/1f",
                        "relevance": 0.75,
                        "source": "films",
                        "fields": {"documentid": "id:shop:film::11", "title": "Alien", "year": 1979},
                    },
                    {"id": "id:shop:film::12", "relevance": 0.5, "fields": {"title": "Aliens"}},
                ],
            }
        },
        sent={"query": "alien", "hits": 10, "offset": 0},
        ids=["id:shop:film::11", "id:shop:film::12"],
        title="Alien",
        total=31,
        scores=[0.75, 0.5],
        empty={"root": {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 0}}},
        error={
            "root": {
                "fields": {"totalCount": 3},
                "errors": [
                    {"code": 12, "summary": "Timed out", "source": "films", "message": "No time left for node 1"}
                ],
                "children": [{"id": "id:shop:film::11", "relevance": 0.7, "fields": {"title": "Alien"}}],
            }
        },
        error_text="No time left for node 1",
    ),
    "qdrant": Example(
        response={
            "usage": {"hardware": None},
            "time": 0.004,
            "status": "ok",
            "result": {
                "points": [
                    {"id": 7, "version": 3, "score": 0.91, "payload": {"title": "Alien", "id": "not the point's"}},
                    {"id": "0b8f-4a", "version": 3, "score": 0.88, "payload": None},
                ]
            },
        },
        sent={"limit": 10, "offset": 0, "with_payload": True},
        ids=["7", "0b8f-4a"],
        title="Alien",
        total=None,
        scores=[0.91, 0.88],
        empty={"status": "ok", "result": {"points": []}},
        error={"status": {"error": "Wrong input: model is not served"}, "time": 0.0},
        error_text="Wrong input: model is not served",
    ),
    "algolia": Example(
        response={
            "hits": [
                {"objectID": "f-1", "title": "Alien", "_distinctSeqID": 0},
                {"objectID": "f-2", "title": "Aliens"},
            ],
            "nbHits": 2,
            "page": 0,
            "nbPages": 1,
            "hitsPerPage": 10,
            "exhaustiveNbHits": False,
            "query": "alien",
        },
        sent={"query": "alien", "hitsPerPage": 10, "analytics": False},
        ids=["f-1", "f-2"],
        title="Alien",
        total=2,
        scores=[None, None],
        empty={"hits": [], "nbHits": 0, "page": 0, "nbPages": 0},
    ),
    "typesense": Example(
        response={
            "found": 2,
            "out_of": 900,
            "page": 1,
            "search_cutoff": False,
            "hits": [
                {"document": {"id": "11", "title": "Alien"}, "highlight": {}, "text_match": 578730123365711993},
                {"document": {"id": "12", "title": "Aliens"}, "highlight": {}, "text_match": 578730123365187705},
            ],
        },
        sent={"q": "alien", "query_by": "title", "per_page": "10"},
        ids=["11", "12"],
        title="Alien",
        total=2,
        scores=[578730123365711993.0, 578730123365187705.0],
        empty={"found": 0, "hits": [], "out_of": 900, "page": 1},
    ),
    "meilisearch": Example(
        response={
            "hits": [
                {"id": 11, "title": "Alien", "_rankingScore": 1.0},
                {"id": 12, "title": "Aliens", "_rankingScore": 0.9},
            ],
            "query": "alien",
            "offset": 0,
            "limit": 10,
            "estimatedTotalHits": 40,
        },
        sent={"q": "alien", "limit": 10, "offset": 0},
        ids=["11", "12"],
        title="Alien",
        total=40,
        scores=[1.0, 0.9],
        empty={"hits": [], "offset": 0, "limit": 10, "estimatedTotalHits": 0},
    ),
    "vectara": Example(
        response={
            "summary": None,
            "search_results": [
                {
                    "text": "In space no one can hear you.",
                    "score": 0.62,
                    "part_metadata": {"lang": "eng", "title": "of the part"},
                    "document_metadata": {"title": "Alien"},
                    "document_id": "alien.pdf",
                },
                {"text": "Another part.", "score": 0.6, "document_metadata": None, "document_id": "alien.pdf"},
            ],
        },
        sent={"query": "alien", "search": {"limit": 10, "offset": 0}},
        ids=["alien.pdf", "alien.pdf"],
        title="Alien",
        total=None,
        scores=[0.62, 0.6],
        empty={"search_results": []},
    ),
}


def engine_at(server: LocalServer, preset: Preset) -> HttpApiEngine:
    path = urlsplit(preset.address).path
    return HttpApiEngine(Connection("http", server.url + path, LOOPBACK, options=preset.options))


def search(server: LocalServer, preset: Preset) -> engines.Page:
    with engine_at(server, preset) as engine:
        template = engines.parse_template(preset.options["template"], "either")
        return engine.search(engines.Request("alien", template, engines.parse_fields("*"), 10))


@pytest.mark.parametrize("key", EXAMPLES)
def test_preset(key: str) -> None:
    preset, example = BY_KEY[key], EXAMPLES[key]
    with serving(lambda received: json_reply(example.response)) as server:
        page = search(server, preset)
        received = server.received[0]
        assert received.method == preset.options["method"]
        sent = json.loads(received.body) if received.body else dict(parse_qsl(urlsplit(received.path).query))
        assert {name: sent[name] for name in example.sent} == example.sent
        assert "alien" in json.dumps(sent)
        assert [hit.id for hit in page.hits] == example.ids
        assert page.hits[0].fields[example.title_field] == example.title
        assert page.hits[0].fields["id"] == example.ids[0]
        assert page.total == example.total
        assert [hit.score for hit in page.hits] == example.scores
        server.respond = lambda received: json_reply(example.empty)
        assert search(server, preset).hits == ()
        server.respond = lambda received: json_reply({"message": "not a search"})
        with pytest.raises(UnreadableResponse, match="option hits"):
            search(server, preset)
        if example.error:
            server.respond = lambda received: json_reply(example.error)
            with pytest.raises(BadQuery, match=example.error_text):
                search(server, preset)


def test_the_preset_of_quepid_is_a_script_that_runs() -> None:
    response = {"total": 12, "results": [{"id": 7, "title": "Alien", "year": 1979}]}
    preset = BY_KEY["quepid"]
    with serving(lambda received: json_reply(response)) as server:
        connection = Connection("http", server.url, LOOPBACK, options=preset.options)
        template = engines.parse_template(preset.options["template"], "either")
        page = HttpApiEngine(connection).search(engines.Request("alien", template, engines.parse_fields("*"), 10))
    assert [(hit.id, hit.fields["title"]) for hit in page.hits] == [("7", "Alien")]
    assert page.total == 12


def test_every_preset_is_complete() -> None:
    assert sorted([*EXAMPLES, "quepid"]) == sorted(BY_KEY)
    known = {option.name for option in OPTIONS}
    for preset in PRESETS:
        assert set(preset.options) <= known
        assert preset.source.startswith("https://")
        # Keys are never part of a preset, only the names of their headers.
        assert not {"api_key", "bearer", "password"} & set(preset.options)


class TestMissingStep:
    """What the message says about an expression that finds nothing."""

    RESPONSE = {"data": {"found": [{"sku": 1}], "count": 1}, "odd name": {"x": None}}

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("data.items", "“data” has no “items”; it is an object with found, count."),
            ("answer.items", "The value that it is applied to has no “answer”; it is an object with data, odd name."),
            ("data.found[3].sku", "“data.found” has no element 3; it is a list of 1."),
            ("data.count.value", "“data.count” has no “value”; it is a number: 1."),
            ('"odd name".x.y', '“"odd name"” has no “x”; it is an object with x.'),
            ("data.found[].name", ""),
        ],
    )
    def test_sentence(self, text: str, sentence: str) -> None:
        assert compile_expression("hits", text).missing_step(self.RESPONSE) == sentence
