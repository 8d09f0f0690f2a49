"""Solr."""
