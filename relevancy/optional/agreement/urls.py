"""Addresses of the agreement of raters."""

from django.urls import path

from . import pages, rater_pages

urlpatterns = [
    path("books/<int:book_id>/agreement/", pages.book_agreement, name="book_agreement"),
    path("books/<int:book_id>/agreement/queries/", pages.book_agreement_queries, name="book_agreement_queries"),
    path("books/<int:book_id>/agreement/pair/", rater_pages.book_agreement_pair, name="book_agreement_pair"),
    path(
        "books/<int:book_id>/agreement/raters/<int:rater_id>/",
        rater_pages.book_agreement_rater,
        name="book_agreement_rater",
    ),
]
