"""The engine contract against real servers, and what only real ones can show."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import urllib3

from relevancy import engines
from relevancy.engines import BadQuery, Connection, Request, UnreadableAnswer
from tests.contracts.engine_contract import EngineContract
from tests.contracts.stand import DOCS, LOOPBACK, MATCHES, Stand, elasticsearch_stand, opensearch_stand, solr_stand
from tests.live.indexing import make_elasticsearch_index, make_solr_core, store_search_template
from tests.live.servers import Server

SCHEMA = {"year": "pint"}


@pytest.fixture(scope="session")
def solr_url(solr_server: Server) -> str:
    return make_solr_core(solr_server, "films", DOCS, SCHEMA)


@pytest.fixture(scope="session")
def elasticsearch_url(elasticsearch_server: Server) -> str:
    return make_elasticsearch_index(elasticsearch_server, "films", DOCS)


@pytest.fixture(scope="session")
def elasticsearch7_url(elasticsearch7_server: Server) -> str:
    return make_elasticsearch_index(elasticsearch7_server, "films", DOCS)


@pytest.fixture(scope="session")
def opensearch_url(opensearch_server: Server) -> str:
    return make_elasticsearch_index(opensearch_server, "films", DOCS)


class TestSolr(EngineContract):
    @pytest.fixture
    def stand(self, solr_url: str) -> Stand:
        return solr_stand(Connection("solr", solr_url, LOOPBACK), solr_url.replace("films", "absent"))

    def test_search_json_request(self, stand: Stand) -> None:
        body = json.dumps(
            {"query": "#$query##", "limit": 1, "fields": "id", "params": {"defType": "edismax", "qf": "title"}}
        )
        request = replace(stand.ask("star"), template=engines.parse_template(f"json={body}", "params"))
        with stand.open() as engine:
            page = engine.search(request)
        assert len(page.hits) == page.total == 3
        assert page.hits[0].fields["title"]

    def test_search_json_body(self, stand: Stand) -> None:
        body = {
            "query": "#$query##", "filter": "year:[1970 TO 1980]", "limit": 1, "offset": 9, "fields": "id",
            "params": {"defType": "edismax", "qf": "title", "q.op": "OR", "rows": 1, "bq": ["title:trek^0", "title:wars^0"]},
        }  # fmt: skip
        request = replace(
            stand.ask("star wars"), template=engines.parse_template(json.dumps(body), stand.template.syntax)
        )
        with stand.open() as engine:
            page = engine.search(request)
            marked = engine.search(replace(request, highlight=True))
            second = engine.search(replace(request, start=1, rows=1))
            assert engine.explain(request, "st")["value"] == pytest.approx(page.hits[1].score)
            assert engine.explain(request, "é-7")["value"] == 0
            with pytest.raises(BadQuery, match="nowhere-at-all"):
                engine.explain(request, "nowhere-at-all")
        assert ([hit.id for hit in page.hits], page.total) == (["sw", "st"], 2)
        assert [hit.id for hit in second.hits] == ["st"]
        assert page.hits[0].fields == {"id": "sw", "title": "Star Wars", "year": 1977, "genres": ["space", "war"]}
        assert "\ue000Wars\ue001" in marked.hits[0].highlights["title"]
        assert page.sent["body"]["query"] == "star wars"

    def test_search_json_body_in_the_query_language(self, stand: Stand) -> None:
        body = {"query": {"edismax": {"query": "#$query##", "qf": "title^##boost##"}}, "filter": ["year:1977", "*:*"]}
        template = engines.parse_template(json.dumps(body), "params")
        with stand.open() as engine:
            page = engine.search(replace(stand.ask("star", knobs={"boost": 2}), template=template))
            assert engine.explain(replace(stand.ask("star", knobs={"boost": 2}), template=template), "sw")["value"] > 0
        assert [hit.id for hit in page.hits] == ["sw"]

    def test_search_json_body_that_is_wrong(self, stand: Stand) -> None:
        template = engines.parse_template('{"query": "#$query##", "nosuchkey": 1}', "params")
        with stand.open() as engine, pytest.raises(BadQuery, match="nosuchkey"):
            engine.search(replace(stand.ask("star"), template=template))

    @pytest.mark.parametrize(
        "more", ["&hl=true&hl.method=original", "&hl.tag.pre=<b>&f.title.hl.simple.pre=<i>&hl.fragsize=20"]
    )
    def test_search_highlights_by_the_templates_method(self, stand: Stand, more: str) -> None:
        template = engines.parse_template(stand.template.text + more, "params")
        with stand.open() as engine:
            hits = engine.search(replace(stand.ask("star wars", highlight=True), template=template)).hits
        assert hits[0].highlights["title"] == "\ue000Star\ue001 \ue000Wars\ue001"

    def test_search_highlights_fields_of_every_type(self, solr_server: Server) -> None:
        doc = {
            "id": "1",
            "long_t": "A star of 1977. " * 80_000,
            "k_s": "star",
            "n_i": 1977,
            "d_dt": "1977-05-05T00:00:00Z",
            "b_b": True,
        }
        url = make_solr_core(solr_server, "kinds", [doc])
        template = engines.parse_template("q=#$query##&defType=edismax&qf=long_t n_i&q.op=OR", "params")
        with engines.connect(Connection("solr", url, LOOPBACK)) as engine:
            for spec in ("id long_t k_s n_i d_dt b_b absent not.there", "*"):
                request = Request("star 1977", template, engines.parse_fields(spec), 5, highlight=True)
                (hit,) = engine.search(request).hits
                assert set(hit.highlights) == {"long_t", "k_s"}
                assert "\ue000star\ue001 of \ue0001977\ue001" in hit.highlights["long_t"]
                assert len(hit.highlights["long_t"]) < 300

    def test_search_many_clauses_is_a_bad_query(self, stand: Stand) -> None:
        query = " ".join(f"w{number}" for number in range(3000))
        with stand.open() as engine, pytest.raises(BadQuery, match="clauses"):
            engine.search(replace(stand.ask(query), template=engines.parse_template("q=#$query##&df=title", "params")))

    def test_search_grouped_is_unreadable(self, stand: Stand) -> None:
        template = engines.parse_template("q=#$query##&df=title&group=true&group.field=year", "params")
        with stand.open() as engine, pytest.raises(UnreadableAnswer, match="group"):
            engine.search(replace(stand.ask("star"), template=template))

    def test_search_function_field(self, stand: Stand) -> None:
        template = engines.parse_template("q=#$query##&df=title&twice=product(year,2)", "params")
        request = replace(stand.ask("wars"), template=template, fields=engines.parse_fields("id title f:$twice"))
        with stand.open() as engine:
            assert engine.search(request).hits[0].fields["twice"] == pytest.approx(3954)

    def test_fields_of_an_empty_core(self, solr_server: Server) -> None:
        url = make_solr_core(solr_server, "empty", [], SCHEMA)
        with engines.connect(Connection("solr", url, LOOPBACK)) as engine:
            assert {"id", "title", "year"} <= set(engine.fields())

    def test_fields_has_dynamic_ones(self, solr_server: Server) -> None:
        url = make_solr_core(solr_server, "dynamic", [{"id": "1", "colour_s": "red"}])
        with engines.connect(Connection("solr", url, LOOPBACK)) as engine:
            assert engine.fields() == ["_version_", "colour_s", "id"]


class DslContract(EngineContract):
    """What Elasticsearch and OpenSearch have in common."""

    def test_id_field_of_the_source(self, stand: Stand) -> None:
        spec = engines.parse_fields("id:id title:title")
        with stand.open() as engine:
            request = replace(stand.ask("star wars"), fields=spec)
            hits = engine.search(request).hits
            assert hits[0].id == "sw"
            assert dict(hits[0].fields) == {"id": "sw", "title": "Star Wars"}
            assert [hit.id for hit in engine.lookup(["x, y/z", "sw"], spec)] == ["x, y/z", "sw"]
            assert engine.explain(request, "st")["value"] == pytest.approx(hits[1].score)
            assert engine.explain(request, "é-7")["value"] == 0

    def test_search_knows_the_cause_of_a_shard_failure(self, stand: Stand) -> None:
        template = engines.parse_template('{"query": {"query_string": {"query": "#$query##"}}}', "json")
        request = replace(stand.ask("title:(star AND"), template=template)
        with stand.open() as engine:
            with pytest.raises(BadQuery, match="Cannot parse"):
                engine.search(request)
            outcomes = dict(engine.search_many([stand.ask("star"), request]))
        assert isinstance(outcomes[1], BadQuery)
        assert "Cannot parse" in str(outcomes[1])

    def test_search_highlights_fields_of_every_type(self, stand: Stand) -> None:
        kinds = ("long", "date", "boolean", "geo_point", "ip", "integer_range", "keyword", "text")
        properties: dict[str, Any] = {kind: {"type": kind} for kind in kinds}
        properties["inner"] = {"type": "nested", "properties": {"text": {"type": "text"}}}
        doc = {
            "id": "1", "text": "A star of 1977. " * 80_000, "keyword": "star", "long": 1977, "date": "1977-05-05",
            "boolean": True, "geo_point": {"lat": 1, "lon": 2}, "ip": "10.0.0.1", "integer_range": {"gte": 1, "lte": 3},
            "inner": [{"text": "one more star"}],
        }  # fmt: skip
        url = make_elasticsearch_index(server_of(stand), "kinds", [doc], {"properties": properties})
        text = '{"query": {"multi_match": {"query": "#$query##", "fields": ["text", "long"], "lenient": true}}}'
        names = " ".join(["text", *kinds, "inner inner.text absent"])
        with engines.connect(replace(stand.connection, url=url)) as engine:
            for spec in (names, "*"):
                fields = engines.parse_fields(spec, "_id")
                request = Request("star 1977", engines.parse_template(text, "json"), fields, 5, highlight=True)
                (hit,) = engine.search(request).hits
                assert set(hit.highlights) == {"text", "keyword", "inner.text"}
                assert "\ue000star\ue001 of \ue0001977\ue001" in hit.highlights["text"]
                assert len(hit.highlights["text"]) < 300

    def test_load_documents(self, stand: Stand) -> None:
        connection = replace(stand.connection, url=stand.connection.url.replace("films", "loaded"))
        urllib3.request("DELETE", connection.url)
        assert engines.load_documents(connection, DOCS) == len(DOCS)
        with engines.connect(connection) as engine:
            assert engine.search(stand.ask("star")).total == 3

    def test_search_keeps_a_templates_count_and_sort(self, stand: Stand) -> None:
        text = '{"query": {"match": {"title": "#$query##"}}, "sort": [{"year": "desc"}], "track_total_hits": false}'
        request = replace(stand.ask("star"), template=engines.parse_template(text, "json"))
        with stand.open() as engine:
            page = engine.search(request)
        assert [hit.id for hit in page.hits] == ["3", "st", "sw"]
        assert {hit.score for hit in page.hits} == {None}
        assert page.total is None


def server_of(stand: Stand) -> Server:
    return Server(stand.connection.url.rpartition("/")[0], Path())


STORED = '{"query": {"match": {"title": "{{words}}"}}, "from": {{from}}, "size": {{size}}}'
BY_NAME = '{"id": "by_title", "params": {"words": "#$query##", "size": 77}}'
BY_SOURCE = json.dumps({"source": STORED, "params": {"words": "#$query##"}})


class SearchTemplates:
    """What servers with the module lang-mustache do with a template that names, or holds, a search template."""

    @pytest.fixture
    def server(self, request: pytest.FixtureRequest) -> Server:
        raise NotImplementedError

    @pytest.mark.parametrize("text", [BY_NAME, BY_SOURCE], ids=["stored", "sent along"])
    def test_search_template(self, stand: Stand, server: Server, text: str) -> None:
        store_search_template(server, "by_title", STORED)
        request = replace(stand.ask("star wars", rows=2), template=engines.parse_template(text, "json"))
        with stand.open() as engine:
            plain = engine.search(stand.ask("star wars", rows=2))
            page = engine.search(request)
            rest = engine.search(replace(request, start=2))
            tree = engine.explain(request, "sw")
            filled = engine.filled(request)
        assert [(hit.id, hit.score) for hit in page.hits] == [(hit.id, hit.score) for hit in plain.hits]
        assert page.hits[0].fields == plain.hits[0].fields
        assert (page.total, len(rest.hits)) == (3, 1)
        assert tree["value"] == pytest.approx(page.hits[0].score)
        assert str(page.sent["url"]).endswith("/films/_search/template")
        assert page.sent["body"]["params"] == {"words": "star wars", "from": 0, "size": 2}
        assert filled["body"] == {"query": {"match": {"title": "star wars"}}, "from": 0, "size": 2}

    def test_search_many_templates(self, stand: Stand, server: Server) -> None:
        store_search_template(server, "by_title", STORED)
        template = engines.parse_template(BY_NAME, "json")
        requests = [replace(stand.ask(query), template=template) for query in MATCHES] * 20
        requests[5] = replace(requests[5], template=engines.parse_template('{"id": "never_stored"}', "json"))
        requests[6] = stand.ask("star")
        with stand.open() as engine:
            outcomes = dict(engine.search_many(requests))
        assert sorted(outcomes) == list(range(len(requests)))
        assert isinstance(outcomes[5], BadQuery)
        assert "never_stored" in str(outcomes[5])
        for index, (query, ids) in enumerate([*MATCHES.items()] * 20):
            page = outcomes[index]
            if index not in (5, 6):
                assert isinstance(page, engines.Page), page
                assert {hit.id for hit in page.hits} == set(ids), query

    def test_search_template_that_is_not_there(self, stand: Stand) -> None:
        template = engines.parse_template('{"id": "never_stored", "params": {}}', "json")
        with stand.open() as engine:
            for ask in (engine.search, lambda request: engine.explain(request, "sw")):
                with pytest.raises(BadQuery, match="never_stored"):
                    ask(replace(stand.ask("star"), template=template))

    def test_search_template_that_renders_to_no_query(self, stand: Stand) -> None:
        text = json.dumps({"source": {"query": {"nosuchquery": {}}}, "params": {}})
        with stand.open() as engine, pytest.raises(BadQuery, match="nosuchquery"):
            engine.search(replace(stand.ask("star"), template=engines.parse_template(text, "json")))


class TestElasticsearch(DslContract):
    @pytest.fixture
    def stand(self, elasticsearch_url: str) -> Stand:
        return elasticsearch_stand(
            Connection("elasticsearch", elasticsearch_url, LOOPBACK), elasticsearch_url.replace("films", "absent")
        )

    def test_search_template_on_a_server_without_them(self, stand: Stand) -> None:
        request = replace(stand.ask("star"), template=engines.parse_template(BY_NAME, "json"))
        with stand.open() as engine:
            outcomes = [outcome for _, outcome in engine.search_many([request, request])]
            for ask in (engine.search, engine.filled, lambda asked: engine.explain(asked, "sw")):
                with pytest.raises(BadQuery, match="has no search templates"):
                    ask(request)
        assert all("has no search templates" in str(outcome) for outcome in outcomes)

    @pytest.mark.parametrize("form", ["knn", "knn and query", "retriever", "retriever of a query", "knn query"])
    def test_vectors_are_passed_through(self, elasticsearch_server: Server, form: str) -> None:
        properties = {"title": {"type": "text"}, "v": {"type": "dense_vector", "dims": 2, "similarity": "cosine"}}
        docs = [{"id": str(n), "title": f"Film {n} star", "v": [1, n]} for n in range(5)]
        url = make_elasticsearch_index(elasticsearch_server, "vectors", docs, {"properties": properties})
        near = {"field": "v", "query_vector": [1, 0], "k": 3, "num_candidates": 10}
        body = {
            "knn": {"knn": near},
            "knn and query": {"knn": near, "query": {"match": {"title": {"query": "#$query##", "boost": 0}}}},
            "retriever": {"retriever": {"knn": near}},
            "retriever of a query": {"retriever": {"standard": {"query": {"knn": near}}}},
            "knn query": {"query": {"knn": near}},
        }[form]
        template = engines.parse_template(json.dumps(body), "json")
        request = Request("star", template, engines.parse_fields("title", "_id"), 3, highlight=True)
        with engines.connect(Connection("elasticsearch", url, LOOPBACK)) as engine:
            page = engine.search(request)
            assert [hit.id for hit in page.hits] == ["0", "1", "2"]
            assert [hit.id for hit in engine.search(replace(request, start=1, rows=1)).hits] == ["1"]
            ((_, many),) = engine.search_many([request])
            assert isinstance(many, engines.Page)
            assert many.hits == page.hits
            assert engine.explain(request, "1")["value"] == pytest.approx(page.hits[1].score)
            if form != "knn and query":
                assert engine.explain(request, "4")["value"] == 0

    def test_a_cluster_without_index_is_refused(self, elasticsearch_server: Server) -> None:
        with pytest.raises(engines.EndpointUnreachable, match="names no index"):
            engines.connect(Connection("elasticsearch", elasticsearch_server.url, LOOPBACK))


class TestElasticsearch7(DslContract, SearchTemplates):
    @pytest.fixture
    def server(self, elasticsearch7_server: Server) -> Server:
        return elasticsearch7_server

    @pytest.fixture
    def stand(self, elasticsearch7_url: str) -> Stand:
        return elasticsearch_stand(
            Connection("elasticsearch", elasticsearch7_url, LOOPBACK), elasticsearch7_url.replace("films", "absent")
        )


class TestOpenSearch(DslContract, SearchTemplates):
    @pytest.fixture
    def server(self, opensearch_server: Server) -> Server:
        return opensearch_server

    @pytest.fixture
    def stand(self, opensearch_url: str) -> Stand:
        return opensearch_stand(
            Connection("opensearch", opensearch_url, LOOPBACK), opensearch_url.replace("films", "absent")
        )

    def test_search_pipeline_is_passed_through(self, stand: Stand) -> None:
        text = '{"query": {"match": {"title": "#$query##"}}, "search_pipeline": "not_defined"}'
        bad = replace(stand.ask("star"), template=engines.parse_template(text, "json"))
        good = replace(
            bad, template=engines.parse_template(text.replace('"not_defined"', '{"request_processors": []}'), "json")
        )
        with stand.open() as engine:
            with pytest.raises(BadQuery, match="not_defined"):
                engine.search(bad)
            outcomes = dict(engine.search_many([bad, good]))
            assert engine.search(good).total == 3
        assert "not_defined" in str(outcomes[0])
        assert isinstance(outcomes[1], engines.Page)


WRONG = [
    *(("solr", "elasticsearch_url"), ("elasticsearch", "solr_url"), ("elasticsearch", "opensearch_url")),
    *(("opensearch", "elasticsearch_url"), ("opensearch", "solr_url")),
]


@pytest.fixture(params=WRONG, ids=lambda pair: f"{pair[0]} at {pair[1]}")
def wrong_engine(request: pytest.FixtureRequest) -> tuple[Connection, Request]:
    """A connection that takes one product for another."""
    key, url = request.param
    stand = solr_stand if key == "solr" else elasticsearch_stand
    made = stand(Connection(key, request.getfixturevalue(url), LOOPBACK), "")
    return made.connection, made.ask("star")


def test_search_of_another_product(wrong_engine: tuple[Connection, Request]) -> None:
    connection, request = wrong_engine
    with engines.connect(connection) as engine:
        with pytest.raises(engines.EngineError) as caught:
            engine.search(request)
        assert str(caught.value)
        with pytest.raises(engines.EngineError):
            engine.version()
