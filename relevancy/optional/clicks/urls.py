"""Addresses of samples of search logs, and of the clicks of a book."""

from django.urls import path

from . import pages, query_log

urlpatterns = [
    path("books/<int:book_id>/clicks/", pages.book_clicks, name="book_clicks"),
    path("books/<int:book_id>/clicks/import/", pages.clicks_import, name="clicks_import"),
    path("books/<int:book_id>/clicks/count/", pages.clicks_count, name="clicks_count"),
    path("cases/<int:case_id>/files/query-log/", query_log.query_log, name="query_log"),
]
