"""The engine contract without servers: canned answers for the engines that need one, real files for the others."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from relevancy import engines
from relevancy.engines import Connection
from relevancy.engines.embedded import build_index

from .engine_contract import EngineContract
from .fakes import fake_elasticsearch, fake_opensearch, fake_solr
from .local_server import serving
from .stand import DOCS, LOOPBACK, MATCHES, Stand, elasticsearch_stand, opensearch_stand, solr_stand


class TestSolr(EngineContract):
    @pytest.fixture(scope="class")
    @classmethod
    def stand(cls) -> Iterator[Stand]:
        with serving(fake_solr) as server:
            yield solr_stand(Connection("solr", f"{server.url}/solr/films", LOOPBACK), f"{server.url}/solr/absent")


class TestElasticsearch(EngineContract):
    @pytest.fixture(scope="class")
    @classmethod
    def stand(cls) -> Iterator[Stand]:
        with serving(fake_elasticsearch) as server:
            yield elasticsearch_stand(
                Connection("elasticsearch", f"{server.url}/films", LOOPBACK), f"{server.url}/absent"
            )


class TestOpenSearch(EngineContract):
    @pytest.fixture(scope="class")
    @classmethod
    def stand(cls) -> Iterator[Stand]:
        with serving(fake_opensearch) as server:
            yield opensearch_stand(Connection("opensearch", f"{server.url}/films", LOOPBACK), f"{server.url}/absent")


class TestEmbedded(EngineContract):
    @pytest.fixture(scope="class")
    @classmethod
    def stand(cls, tmp_path_factory: pytest.TempPathFactory) -> Stand:
        folder = tmp_path_factory.mktemp("embedded")
        build_index(folder, "films", DOCS)
        return Stand(
            connection=Connection("embedded", "films", LOOPBACK, data_dir=folder),
            template=engines.parse_template('{"query": "#$query##", "fields": {"title": 1}}', "json"),
            fields=engines.parse_fields("id:id title:title year genres"),
            bad=engines.parse_template('{"query": "#$query##", "fields": {"nosuchfield": 1}}', "json"),
            bad_words="nosuchfield",
            missing="absent",
            version=r"tantivy \d+\.\d+\.\d+",
        )


class TestStatic(EngineContract):
    @pytest.fixture(scope="class")
    @classmethod
    def stand(cls, tmp_path_factory: pytest.TempPathFactory) -> Stand:
        folder = tmp_path_factory.mktemp("static")
        _write_rankings(folder / "films.csv")
        return Stand(
            connection=Connection("static", "films.csv", LOOPBACK, data_dir=folder),
            template=engines.parse_template("{}", "json"),
            fields=engines.parse_fields("id:id title:title year genres"),
            missing="absent.csv",
            version=r"CSV with \d+ queries",
            scored=False,
        )


def _write_rankings(path: Path) -> None:
    docs = {doc["id"]: doc for doc in DOCS}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Query Text", "Doc ID", "Doc Position", "title", "year", "genres"])
        for query, ids in MATCHES.items():
            for place, doc_id in enumerate(ids, 1):
                doc = docs[doc_id]
                writer.writerow([query, doc_id, place, doc["title"], doc["year"], json.dumps(doc["genres"])])
