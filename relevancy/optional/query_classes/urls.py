"""Addresses of query classes."""

from django.urls import path

from . import pages

_BASE = "cases/<int:case_id>/query-classes/"
urlpatterns = [
    path(_BASE, pages.query_classes, name="query_classes"),
    path(f"{_BASE}new/", pages.tag_rule_new, name="tag_rule_new"),
    path(f"{_BASE}usual/", pages.tag_rule_presets, name="tag_rule_presets"),
    path(f"{_BASE}preview/", pages.tag_rule_preview, name="tag_rule_preview"),
    path(f"{_BASE}<int:rule_id>/", pages.tag_rule_edit, name="tag_rule_edit"),
    path(f"{_BASE}<int:rule_id>/delete/", pages.tag_rule_delete, name="tag_rule_delete"),
]
