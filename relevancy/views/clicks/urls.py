"""URLs of the clicks of a book."""

from django.urls import path

from . import pages

urlpatterns = [
    path("books/<int:book_id>/clicks/", pages.book_clicks, name="book_clicks"),
    path("books/<int:book_id>/clicks/import/", pages.clicks_import, name="clicks_import"),
    path("books/<int:book_id>/clicks/count/", pages.clicks_count, name="clicks_count"),
]
