"""Elasticsearch and OpenSearch: one query language, one adapter, two products."""
