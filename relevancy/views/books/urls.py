"""URLs of books."""

from django.urls import path

from . import agreement, book_import, pages

urlpatterns = [
    path("books/", pages.book_list, name="books"),
    path("books/import/", book_import.book_import, name="book_import"),
    path("books/<int:book_id>/", pages.book, name="book"),
    path("books/<int:book_id>/settings/", pages.book_settings, name="book_settings"),
    path("books/<int:book_id>/agreement/", agreement.book_agreement, name="book_agreement"),
]
