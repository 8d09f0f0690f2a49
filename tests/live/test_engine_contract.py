"""The engine contract against a real Solr and a real Elasticsearch, and what only real ones can show."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from relevancy import engines
from relevancy.engines import BadQuery, Connection, Request, UnreadableAnswer
from tests.contracts.engine_contract import EngineContract
from tests.contracts.stand import DOCS, LOOPBACK, Stand, elasticsearch_stand, solr_stand
from tests.live.indexing import make_elasticsearch_index, make_solr_core
from tests.live.servers import Server

SCHEMA = {"year": "pint"}


@pytest.fixture(scope="session")
def solr_url(solr_server: Server) -> str:
    return make_solr_core(solr_server, "films", DOCS, SCHEMA)


@pytest.fixture(scope="session")
def elasticsearch_url(elasticsearch_server: Server) -> str:
    return make_elasticsearch_index(elasticsearch_server, "films", DOCS)


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


class TestElasticsearch(EngineContract):
    @pytest.fixture
    def stand(self, elasticsearch_url: str) -> Stand:
        return elasticsearch_stand(
            Connection("elasticsearch", elasticsearch_url, LOOPBACK), elasticsearch_url.replace("films", "absent")
        )

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

    def test_search_keeps_a_templates_count_and_sort(self, stand: Stand) -> None:
        text = '{"query": {"match": {"title": "#$query##"}}, "sort": [{"year": "desc"}], "track_total_hits": false}'
        request = replace(stand.ask("star"), template=engines.parse_template(text, "json"))
        with stand.open() as engine:
            page = engine.search(request)
        assert [hit.id for hit in page.hits] == ["3", "st", "sw"]
        assert {hit.score for hit in page.hits} == {None}
        assert page.total is None

    def test_a_cluster_without_index_is_refused(self, elasticsearch_server: Server) -> None:
        with pytest.raises(engines.EndpointUnreachable, match="names no index"):
            engines.connect(Connection("elasticsearch", elasticsearch_server.url, LOOPBACK))


@pytest.fixture(params=["solr", "elasticsearch"])
def wrong_engine(request: pytest.FixtureRequest) -> Iterator[tuple[Connection, Request]]:
    """A connection that takes one product for the other."""
    key = request.param
    url = request.getfixturevalue("elasticsearch_url" if key == "solr" else "solr_url")
    stand = (solr_stand if key == "solr" else elasticsearch_stand)(Connection(key, url, LOOPBACK), "")
    yield stand.connection, stand.ask("star")


def test_search_of_another_product(wrong_engine: tuple[Connection, Request]) -> None:
    connection, request = wrong_engine
    with engines.connect(connection) as engine:
        with pytest.raises(engines.EngineError) as caught:
            engine.search(request)
        assert str(caught.value)
        with pytest.raises(engines.EngineError):
            engine.version()
