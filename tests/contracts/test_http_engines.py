"""The HTTP contract for Solr, Elasticsearch and OpenSearch."""

from relevancy.engines import Connection

from .fakes import as_opensearch, fake_elasticsearch, fake_opensearch, fake_solr
from .http_contract import HttpContract
from .local_server import Reply, json_reply
from .subject import EngineUnderTest, elasticsearch_subject, opensearch_subject, solr_subject


class TestSolr(HttpContract):
    key = "solr"
    healthy = staticmethod(fake_solr)
    path = "/solr/films"

    @classmethod
    def make_subject(cls, connection: Connection, missing_url: str) -> EngineUnderTest:
        return solr_subject(connection, missing_url)

    @classmethod
    def hits_reply(cls, ids: list[str]) -> Reply:
        docs = [{"id": doc_id, "title": f"Title of {doc_id}", "score": 1.5} for doc_id in ids]
        return json_reply({"response": {"numFound": len(docs), "docs": docs}})


class TestElasticsearch(HttpContract):
    key = "elasticsearch"
    healthy = staticmethod(fake_elasticsearch)
    path = "/films"

    @classmethod
    def make_subject(cls, connection: Connection, missing_url: str) -> EngineUnderTest:
        return elasticsearch_subject(connection, missing_url)

    @classmethod
    def hits_reply(cls, ids: list[str]) -> Reply:
        raws = [{"_id": doc_id, "_score": 1.5, "_source": {"title": f"Title of {doc_id}"}} for doc_id in ids]
        return json_reply({"took": 1, "hits": {"total": {"value": len(raws)}, "hits": raws}})


class TestOpenSearch(HttpContract):
    key = "opensearch"
    healthy = staticmethod(fake_opensearch)
    path = "/films"

    @classmethod
    def make_subject(cls, connection: Connection, missing_url: str) -> EngineUnderTest:
        return opensearch_subject(connection, missing_url)

    @classmethod
    def hits_reply(cls, ids: list[str]) -> Reply:
        return as_opensearch(TestElasticsearch.hits_reply(ids))
