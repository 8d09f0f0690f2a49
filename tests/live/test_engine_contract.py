"""The engine contract against real servers, and behaviour that only real ones have."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import urllib3

from relevancy import engines
from relevancy.engines import BadQuery, Connection, Request, UnreadableResponse, UnsupportedByEngine
from tests.contracts.engine_contract import EngineContract
from tests.contracts.subject import (
    DOCS,
    LOOPBACK,
    MATCHES,
    EngineUnderTest,
    elasticsearch_subject,
    opensearch_subject,
    solr_subject,
)
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
    key = "solr"

    @pytest.fixture
    def subject(self, solr_url: str) -> EngineUnderTest:
        return solr_subject(Connection("solr", solr_url, LOOPBACK), solr_url.replace("films", "absent"))

    def test_search_json_request(self, subject: EngineUnderTest) -> None:
        body = json.dumps(
            {"query": "#$query##", "limit": 1, "fields": "id", "params": {"defType": "edismax", "qf": "title"}}
        )
        request = replace(subject.request("star"), template=engines.parse_template(f"json={body}", "params"))
        with subject.connect() as engine:
            page = engine.search(request)
        assert len(page.hits) == page.total == 3
        assert page.hits[0].fields["title"]

    def test_search_json_body(self, subject: EngineUnderTest) -> None:
        body = {
            "query": "#$query##", "filter": "year:[1970 TO 1980]", "limit": 1, "offset": 9, "fields": "id",
            "params": {"defType": "edismax", "qf": "title", "q.op": "OR", "rows": 1, "bq": ["title:trek^0", "title:wars^0"]},
        }  # fmt: skip
        request = replace(
            subject.request("star wars"), template=engines.parse_template(json.dumps(body), subject.template.syntax)
        )
        with subject.connect() as engine:
            page = engine.search(request)
            highlighted = engine.search(replace(request, highlight=True))
            second = engine.search(replace(request, start=1, rows=1))
            assert engine.explain(request, "st")["value"] == pytest.approx(page.hits[1].score)
            assert engine.explain(request, "é-7")["value"] == 0
            with pytest.raises(BadQuery, match="nowhere-at-all"):
                engine.explain(request, "nowhere-at-all")
        assert ([hit.id for hit in page.hits], page.total) == (["sw", "st"], 2)
        assert [hit.id for hit in second.hits] == ["st"]
        assert page.hits[0].fields == {"id": "sw", "title": "Star Wars", "year": 1977, "genres": ["space", "war"]}
        assert "\ue000Wars\ue001" in highlighted.hits[0].highlights["title"]
        assert page.rendered_request["body"]["query"] == "star wars"

    def test_search_json_body_in_the_query_dsl(self, subject: EngineUnderTest) -> None:
        body = {"query": {"edismax": {"query": "#$query##", "qf": "title^##boost##"}}, "filter": ["year:1977", "*:*"]}
        template = engines.parse_template(json.dumps(body), "params")
        with subject.connect() as engine:
            page = engine.search(replace(subject.request("star", knobs={"boost": 2}), template=template))
            assert (
                engine.explain(replace(subject.request("star", knobs={"boost": 2}), template=template), "sw")["value"]
                > 0
            )
        assert [hit.id for hit in page.hits] == ["sw"]

    def test_search_json_body_with_an_unknown_key(self, subject: EngineUnderTest) -> None:
        template = engines.parse_template('{"query": "#$query##", "nosuchkey": 1}', "params")
        with subject.connect() as engine, pytest.raises(BadQuery, match="nosuchkey"):
            engine.search(replace(subject.request("star"), template=template))

    @pytest.mark.parametrize(
        "extra", ["&hl=true&hl.method=original", "&hl.tag.pre=<b>&f.title.hl.simple.pre=<i>&hl.fragsize=20"]
    )
    def test_search_highlights_with_the_templates_method(self, subject: EngineUnderTest, extra: str) -> None:
        template = engines.parse_template(subject.template.text + extra, "params")
        with subject.connect() as engine:
            hits = engine.search(replace(subject.request("star wars", highlight=True), template=template)).hits
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
        url = make_solr_core(solr_server, "types", [doc])
        template = engines.parse_template("q=#$query##&defType=edismax&qf=long_t n_i&q.op=OR", "params")
        with engines.connect(Connection("solr", url, LOOPBACK)) as engine:
            for spec in ("id long_t k_s n_i d_dt b_b absent not.there", "*"):
                request = Request("star 1977", template, engines.parse_fields(spec), 5, highlight=True)
                (hit,) = engine.search(request).hits
                assert set(hit.highlights) == {"long_t", "k_s"}
                assert "\ue000star\ue001 of \ue0001977\ue001" in hit.highlights["long_t"]
                assert len(hit.highlights["long_t"]) < 300

    def test_search_with_too_many_clauses(self, subject: EngineUnderTest) -> None:
        query = " ".join(f"w{number}" for number in range(3000))
        with subject.connect() as engine, pytest.raises(BadQuery, match="clauses"):
            engine.search(
                replace(subject.request(query), template=engines.parse_template("q=#$query##&df=title", "params"))
            )

    def test_search_with_grouped_results(self, subject: EngineUnderTest) -> None:
        template = engines.parse_template("q=#$query##&df=title&group=true&group.field=year", "params")
        with subject.connect() as engine, pytest.raises(UnreadableResponse, match="group"):
            engine.search(replace(subject.request("star"), template=template))

    def test_search_function_field(self, subject: EngineUnderTest) -> None:
        template = engines.parse_template("q=#$query##&df=title&twice=product(year,2)", "params")
        request = replace(subject.request("wars"), template=template, fields=engines.parse_fields("id title f:$twice"))
        with subject.connect() as engine:
            assert engine.search(request).hits[0].fields["twice"] == pytest.approx(3954)

    def test_fields_of_an_empty_core(self, solr_server: Server) -> None:
        url = make_solr_core(solr_server, "empty", [], SCHEMA)
        with engines.connect(Connection("solr", url, LOOPBACK)) as engine:
            assert {"id", "title", "year"} <= set(engine.fields())

    def test_fields_include_dynamic_fields(self, solr_server: Server) -> None:
        url = make_solr_core(solr_server, "dynamic", [{"id": "1", "colour_s": "red"}])
        with engines.connect(Connection("solr", url, LOOPBACK)) as engine:
            assert engine.fields() == ["_version_", "colour_s", "id"]


class ElasticContract(EngineContract):
    """Behaviour that Elasticsearch and OpenSearch have in common."""

    def test_id_field_in_the_source(self, subject: EngineUnderTest) -> None:
        spec = engines.parse_fields("id:id title:title")
        with subject.connect() as engine:
            request = replace(subject.request("star wars"), fields=spec)
            hits = engine.search(request).hits
            assert hits[0].id == "sw"
            assert dict(hits[0].fields) == {"id": "sw", "title": "Star Wars"}
            assert [hit.id for hit in engine.lookup(["x, y/z", "sw"], spec)] == ["x, y/z", "sw"]
            assert engine.explain(request, "st")["value"] == pytest.approx(hits[1].score)
            assert engine.explain(request, "é-7")["value"] == 0

    def test_search_reports_the_cause_of_a_shard_failure(self, subject: EngineUnderTest) -> None:
        template = engines.parse_template('{"query": {"query_string": {"query": "#$query##"}}}', "json")
        request = replace(subject.request("title:(star AND"), template=template)
        with subject.connect() as engine:
            with pytest.raises(BadQuery, match="Cannot parse"):
                engine.search(request)
            outcomes = dict(engine.search_many([subject.request("star"), request]))
        assert isinstance(outcomes[1], BadQuery)
        assert "Cannot parse" in str(outcomes[1])

    def test_search_highlights_fields_of_every_type(self, subject: EngineUnderTest) -> None:
        types = ("long", "date", "boolean", "geo_point", "ip", "integer_range", "keyword", "text")
        properties: dict[str, Any] = {field_type: {"type": field_type} for field_type in types}
        properties["inner"] = {"type": "nested", "properties": {"text": {"type": "text"}}}
        doc = {
            "id": "1", "text": "A star of 1977. " * 80_000, "keyword": "star", "long": 1977, "date": "1977-05-05",
            "boolean": True, "geo_point": {"lat": 1, "lon": 2}, "ip": "10.0.0.1", "integer_range": {"gte": 1, "lte": 3},
            "inner": [{"text": "one extra star"}],
        }  # fmt: skip
        url = make_elasticsearch_index(server_of(subject), "types", [doc], {"properties": properties})
        text = '{"query": {"multi_match": {"query": "#$query##", "fields": ["text", "long"], "lenient": true}}}'
        names = " ".join(["text", *types, "inner inner.text absent"])
        with engines.connect(replace(subject.connection, url=url)) as engine:
            for spec in (names, "*"):
                fields = engines.parse_fields(spec, "_id")
                request = Request("star 1977", engines.parse_template(text, "json"), fields, 5, highlight=True)
                (hit,) = engine.search(request).hits
                assert set(hit.highlights) == {"text", "keyword", "inner.text"}
                assert "\ue000star\ue001 of \ue0001977\ue001" in hit.highlights["text"]
                assert len(hit.highlights["text"]) < 300

    def test_load_documents(self, subject: EngineUnderTest) -> None:
        connection = replace(subject.connection, url=subject.connection.url.replace("films", "loaded"))
        urllib3.request("DELETE", connection.url)
        with engines.connect(connection) as engine:
            assert engine.load_documents(DOCS) == len(DOCS)
            assert engine.search(subject.request("star")).total == 3

    def test_search_keeps_the_templates_total_and_sort(self, subject: EngineUnderTest) -> None:
        text = '{"query": {"match": {"title": "#$query##"}}, "sort": [{"year": "desc"}], "track_total_hits": false}'
        request = replace(subject.request("star"), template=engines.parse_template(text, "json"))
        with subject.connect() as engine:
            page = engine.search(request)
        assert [hit.id for hit in page.hits] == ["3", "st", "sw"]
        assert {hit.score for hit in page.hits} == {None}
        assert page.total is None


def server_of(subject: EngineUnderTest) -> Server:
    return Server(subject.connection.url.rpartition("/")[0], Path())


STORED = '{"query": {"match": {"title": "{{words}}"}}, "from": {{from}}, "size": {{size}}}'
BY_NAME = '{"id": "by_title", "params": {"words": "#$query##", "size": 77}}'
BY_SOURCE = json.dumps({"source": STORED, "params": {"words": "#$query##"}})


class SearchTemplates:
    """Search templates, on servers with the module lang-mustache."""

    @pytest.fixture
    def server(self, request: pytest.FixtureRequest) -> Server:
        raise NotImplementedError

    @pytest.mark.parametrize("text", [BY_NAME, BY_SOURCE], ids=["stored", "sent along"])
    def test_search_template(self, subject: EngineUnderTest, server: Server, text: str) -> None:
        store_search_template(server, "by_title", STORED)
        request = replace(subject.request("star wars", rows=2), template=engines.parse_template(text, "json"))
        with subject.connect() as engine:
            plain = engine.search(subject.request("star wars", rows=2))
            page = engine.search(request)
            rest = engine.search(replace(request, start=2))
            tree = engine.explain(request, "sw")
            expanded = engine.expand_template(request)
        assert [(hit.id, hit.score) for hit in page.hits] == [(hit.id, hit.score) for hit in plain.hits]
        assert page.hits[0].fields == plain.hits[0].fields
        assert (page.total, len(rest.hits)) == (3, 1)
        assert tree["value"] == pytest.approx(page.hits[0].score)
        assert str(page.rendered_request["url"]).endswith("/films/_search/template")
        assert page.rendered_request["body"]["params"] == {"words": "star wars", "from": 0, "size": 2}
        assert expanded["body"] == {"query": {"match": {"title": "star wars"}}, "from": 0, "size": 2}

    def test_search_many_templates(self, subject: EngineUnderTest, server: Server) -> None:
        store_search_template(server, "by_title", STORED)
        template = engines.parse_template(BY_NAME, "json")
        requests = [replace(subject.request(query), template=template) for query in MATCHES] * 20
        requests[5] = replace(requests[5], template=engines.parse_template('{"id": "never_stored"}', "json"))
        requests[6] = subject.request("star")
        with subject.connect() as engine:
            outcomes = dict(engine.search_many(requests))
        assert sorted(outcomes) == list(range(len(requests)))
        assert isinstance(outcomes[5], BadQuery)
        assert "never_stored" in str(outcomes[5])
        for index, (query, ids) in enumerate([*MATCHES.items()] * 20):
            page = outcomes[index]
            if index not in (5, 6):
                assert isinstance(page, engines.Page), page
                assert {hit.id for hit in page.hits} == set(ids), query

    def test_missing_search_template(self, subject: EngineUnderTest) -> None:
        template = engines.parse_template('{"id": "never_stored", "params": {}}', "json")
        with subject.connect() as engine:
            for call in (engine.search, lambda request: engine.explain(request, "sw")):
                with pytest.raises(BadQuery, match="never_stored"):
                    call(replace(subject.request("star"), template=template))

    def test_search_template_that_renders_an_invalid_query(self, subject: EngineUnderTest) -> None:
        text = json.dumps({"source": {"query": {"nosuchquery": {}}}, "params": {}})
        with subject.connect() as engine, pytest.raises(BadQuery, match="nosuchquery"):
            engine.search(replace(subject.request("star"), template=engines.parse_template(text, "json")))


class TestElasticsearch(ElasticContract):
    key = "elasticsearch"

    @pytest.fixture
    def subject(self, elasticsearch_url: str) -> EngineUnderTest:
        return elasticsearch_subject(
            Connection("elasticsearch", elasticsearch_url, LOOPBACK), elasticsearch_url.replace("films", "absent")
        )

    def test_search_template_without_server_support(self, subject: EngineUnderTest) -> None:
        request = replace(subject.request("star"), template=engines.parse_template(BY_NAME, "json"))
        with subject.connect() as engine:
            outcomes = [outcome for _, outcome in engine.search_many([request, request])]
            for call in (engine.search, engine.expand_template, lambda request: engine.explain(request, "sw")):
                with pytest.raises(BadQuery, match="does not support search templates"):
                    call(request)
        assert all("does not support search templates" in str(outcome) for outcome in outcomes)

    @pytest.mark.parametrize("form", ["knn", "knn and query", "retriever", "retriever of a query", "knn query"])
    def test_vector_queries_are_sent_unchanged(self, elasticsearch_server: Server, form: str) -> None:
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

    def test_connect_to_a_cluster_without_index(self, elasticsearch_server: Server) -> None:
        with pytest.raises(engines.EndpointUnreachable, match="names no index"):
            engines.connect(Connection("elasticsearch", elasticsearch_server.url, LOOPBACK))


class TestElasticsearch7(ElasticContract, SearchTemplates):
    key = "elasticsearch"

    @pytest.fixture
    def server(self, elasticsearch7_server: Server) -> Server:
        return elasticsearch7_server

    @pytest.fixture
    def subject(self, elasticsearch7_url: str) -> EngineUnderTest:
        return elasticsearch_subject(
            Connection("elasticsearch", elasticsearch7_url, LOOPBACK), elasticsearch7_url.replace("films", "absent")
        )

    def test_clause_scores(self, subject: EngineUnderTest) -> None:
        with subject.connect() as engine, pytest.raises(UnsupportedByEngine, match=r"from version 8\.8 on"):
            engine.clause_scores({"title": subject.clause("star")}, ["sw"])


class TestOpenSearch(ElasticContract, SearchTemplates):
    key = "opensearch"

    @pytest.fixture
    def server(self, opensearch_server: Server) -> Server:
        return opensearch_server

    @pytest.fixture
    def subject(self, opensearch_url: str) -> EngineUnderTest:
        return opensearch_subject(
            Connection("opensearch", opensearch_url, LOOPBACK), opensearch_url.replace("films", "absent")
        )

    def test_search_pipeline_is_sent_unchanged(self, subject: EngineUnderTest) -> None:
        text = '{"query": {"match": {"title": "#$query##"}}, "search_pipeline": "not_defined"}'
        bad = replace(subject.request("star"), template=engines.parse_template(text, "json"))
        good = replace(
            bad, template=engines.parse_template(text.replace('"not_defined"', '{"request_processors": []}'), "json")
        )
        with subject.connect() as engine:
            with pytest.raises(BadQuery, match="not_defined"):
                engine.search(bad)
            outcomes = dict(engine.search_many([bad, good]))
            assert engine.search(good).total == 3
        assert "not_defined" in str(outcomes[0])
        assert isinstance(outcomes[1], engines.Page)


MISTAKEN_PRODUCTS = [
    *(("solr", "elasticsearch_url"), ("elasticsearch", "solr_url"), ("elasticsearch", "opensearch_url")),
    *(("opensearch", "elasticsearch_url"), ("opensearch", "solr_url")),
]


@pytest.fixture(params=MISTAKEN_PRODUCTS, ids=lambda pair: f"{pair[0]} at {pair[1]}")
def mistaken_engine(request: pytest.FixtureRequest) -> tuple[Connection, Request]:
    """A connection whose engine is another product."""
    key, url = request.param
    make_subject = solr_subject if key == "solr" else elasticsearch_subject
    engine_subject = make_subject(Connection(key, request.getfixturevalue(url), LOOPBACK), "")
    return engine_subject.connection, engine_subject.request("star")


def test_search_of_another_product(mistaken_engine: tuple[Connection, Request]) -> None:
    connection, request = mistaken_engine
    with engines.connect(connection) as engine:
        with pytest.raises(engines.EngineError) as caught:
            engine.search(request)
        assert str(caught.value)
        with pytest.raises(engines.EngineError):
            engine.version()
