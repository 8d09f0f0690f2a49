"""Addresses of the qualification of raters."""

from django.urls import path

from . import judging, pages

urlpatterns = [
    path("books/<int:book_id>/qualification/", pages.book_qualification, name="book_qualification"),
    path("books/<int:book_id>/qualification/judge/", judging.qualify, name="qualify"),
    path("books/<int:book_id>/qualification/judge/rate/", judging.qualify_rate, name="qualify_rate"),
    path("books/<int:book_id>/qualification/judge/pause/", judging.qualify_pause, name="qualify_pause"),
    path("books/<int:book_id>/qualification/judge/undo/", judging.qualify_undo, name="qualify_undo"),
]
