"""Elasticsearch and OpenSearch: one query language, one adapter, two products."""

from .engine import ElasticsearchEngine, OpenSearchEngine

__all__ = ["ElasticsearchEngine", "OpenSearchEngine"]
