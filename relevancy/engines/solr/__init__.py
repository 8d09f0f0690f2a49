"""Solr."""

from .engine import SolrEngine

__all__ = ["SolrEngine"]
