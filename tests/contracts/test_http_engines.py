"""The HTTP part of the engine contract: Solr, Elasticsearch and OpenSearch against a server that misbehaves."""

from dataclasses import replace

from relevancy.engines import Connection

from .fakes import as_opensearch, fake_elasticsearch, fake_opensearch, fake_solr
from .http_contract import HttpContract
from .local_server import Reply, json_reply
from .stand import Stand, elasticsearch_stand, opensearch_stand, solr_stand


class TestSolr(HttpContract):
    healthy = staticmethod(fake_solr)
    path = "/solr/films"

    @classmethod
    def make_stand(cls, connection: Connection, missing: str) -> Stand:
        return solr_stand(connection, missing)

    @classmethod
    def hits_reply(cls, ids: list[str]) -> Reply:
        docs = [{"id": doc_id, "title": f"Title of {doc_id}", "score": 1.5} for doc_id in ids]
        return json_reply({"response": {"numFound": len(docs), "docs": docs}})


class TestElasticsearch(HttpContract):
    healthy = staticmethod(fake_elasticsearch)
    path = "/films"

    @classmethod
    def make_stand(cls, connection: Connection, missing: str) -> Stand:
        return elasticsearch_stand(connection, missing)

    @classmethod
    def hits_reply(cls, ids: list[str]) -> Reply:
        raws = [{"_id": doc_id, "_score": 1.5, "_source": {"title": f"Title of {doc_id}"}} for doc_id in ids]
        return json_reply({"took": 1, "hits": {"total": {"value": len(raws)}, "hits": raws}})


class TestOpenSearch(HttpContract):
    healthy = staticmethod(fake_opensearch)
    path = "/films"

    @classmethod
    def make_stand(cls, connection: Connection, missing: str) -> Stand:
        return opensearch_stand(replace(connection, engine="opensearch"), missing)

    @classmethod
    def hits_reply(cls, ids: list[str]) -> Reply:
        return as_opensearch(TestElasticsearch.hits_reply(ids))
