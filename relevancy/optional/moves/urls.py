"""The address of the page on documents whose ids have changed."""

from django.urls import path

from . import pages

urlpatterns = [path("books/<int:book_id>/moves/", pages.book_moves, name="book_moves")]
