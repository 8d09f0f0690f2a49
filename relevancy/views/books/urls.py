"""URLs of books."""

from django.urls import path

from . import (
    book_actions,
    book_import,
    conflicts,
    judging,
    merging,
    pages,
    raters,
)

urlpatterns = [
    path("books/", pages.book_list, name="books"),
    path("books/new/", pages.book_new, name="book_new"),
    path("books/import/", book_import.import_book, name="book_import"),
    path("books/<int:book_id>/", pages.book, name="book"),
    path("books/<int:book_id>/queries/", pages.book_queries, name="book_queries"),
    path("books/<int:book_id>/judging/", judging.book_judging, name="book_judging"),
    path("books/<int:book_id>/settings/", judging.book_settings_moved, name="book_settings"),
    path("books/<int:book_id>/change/", judging.book_settings_moved, name="book_change"),
    path("books/<int:book_id>/conflicts/", conflicts.book_conflicts, name="book_conflicts"),
    path("books/<int:book_id>/conflicts/<int:query_id>/decide/", conflicts.book_adjudicate, name="book_adjudicate"),
    path("books/<int:book_id>/conflicts/undo/", conflicts.book_undo_decision, name="book_undo_decision"),
    path("books/<int:book_id>/decided/", conflicts.book_decided, name="book_decided"),
    path("books/<int:book_id>/raters/", raters.book_raters, name="book_raters"),
    path("books/<int:book_id>/raters/<int:rater_id>/", raters.book_rater, name="book_rater"),
    path("books/<int:book_id>/files/", pages.book_files, name="book_files"),
    path("books/<int:book_id>/merge/", merging.book_merge, name="book_merge"),
    path("books/<int:book_id>/rename/", book_actions.book_rename, name="book_rename"),
    path("books/<int:book_id>/delete/", book_actions.book_delete, name="book_delete"),
    path("books/<int:book_id>/rating-import/", pages.book_rating_import, name="book_rating_import"),
    path("books/<int:book_id>/book.json", pages.book_download, name="book_download"),
    path("books/<int:book_id>/ratings.csv", conflicts.book_ratings_csv, name="book_ratings_csv"),
]
