"""The engine contract without real servers: fakes for the engines that need one, files for the others."""

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from relevancy import engines
from relevancy.engines import Connection
from relevancy.engines.embedded.build import build_index

from .engine_contract import EngineContract
from .fakes import fake_elasticsearch, fake_opensearch, fake_solr
from .local_server import serving
from .subject import DOCS, LOOPBACK, MATCHES, EngineUnderTest, elasticsearch_subject, opensearch_subject, solr_subject


class TestSolr(EngineContract):
    key = "solr"

    @pytest.fixture(scope="class")
    @classmethod
    def subject(cls) -> Iterator[EngineUnderTest]:
        with serving(fake_solr) as server:
            connection = Connection("solr", f"{server.url}/solr/films", LOOPBACK)
            yield replace(solr_subject(connection, f"{server.url}/solr/absent"), is_fake=True)


class TestElasticsearch(EngineContract):
    key = "elasticsearch"

    @pytest.fixture(scope="class")
    @classmethod
    def subject(cls) -> Iterator[EngineUnderTest]:
        with serving(fake_elasticsearch) as server:
            connection = Connection("elasticsearch", f"{server.url}/films", LOOPBACK)
            yield replace(elasticsearch_subject(connection, f"{server.url}/absent"), is_fake=True)


class TestOpenSearch(EngineContract):
    key = "opensearch"

    @pytest.fixture(scope="class")
    @classmethod
    def subject(cls) -> Iterator[EngineUnderTest]:
        with serving(fake_opensearch) as server:
            connection = Connection("opensearch", f"{server.url}/films", LOOPBACK)
            yield replace(opensearch_subject(connection, f"{server.url}/absent"), is_fake=True)


class TestEmbedded(EngineContract):
    key = "embedded"

    @pytest.fixture(scope="class")
    @classmethod
    def subject(cls, tmp_path_factory: pytest.TempPathFactory) -> EngineUnderTest:
        folder = tmp_path_factory.mktemp("embedded")
        build_index(folder, "films", DOCS)
        return EngineUnderTest(
            connection=Connection("embedded", "films", LOOPBACK, data_dir=folder),
            template=engines.parse_template('{"query": "#$query##", "fields": {"title": 1}}', "json"),
            fields=engines.parse_fields("id:id title:title year genres"),
            rejected_template=engines.parse_template('{"query": "#$query##", "fields": {"nosuchfield": 1}}', "json"),
            rejection="nosuchfield",
            clause_text='{"query": "#$query##", "fields": {"title": 1}}',
            missing_url="absent",
            version_pattern=r"tantivy \d+\.\d+\.\d+",
        )


class TestStatic(EngineContract):
    key = "static"
    rejects_templates = False
    has_id_field = False  # a file of rankings consists of ids

    @pytest.fixture(scope="class")
    @classmethod
    def subject(cls, tmp_path_factory: pytest.TempPathFactory) -> EngineUnderTest:
        folder = tmp_path_factory.mktemp("static")
        _write_rankings(folder / "films.csv")
        return EngineUnderTest(
            connection=Connection("static", "films.csv", LOOPBACK, data_dir=folder),
            template=engines.parse_template("{}", "json"),
            fields=engines.parse_fields("id:id title:title year genres"),
            missing_url="absent.csv",
            version_pattern=r"CSV with \d+ queries",
            has_scores=False,
        )


def _write_rankings(path: Path) -> None:
    docs = {doc["id"]: doc for doc in DOCS}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Query Text", "Doc ID", "Doc Position", "title", "year", "genres"])
        for query, ids in [*MATCHES.items(), ("star 1977", ())]:  # the contract searches for this one as well
            if not ids:
                writer.writerow([query])
            for position, doc_id in enumerate(ids, 1):
                doc = docs[doc_id]
                writer.writerow([query, doc_id, position, doc["title"], doc["year"], json.dumps(doc["genres"])])
