"""URLs of judging one document at a time."""

from django.urls import path

from . import pages

urlpatterns = [
    path("books/<int:book_id>/judge/", pages.judge, name="judge"),
    path("books/<int:book_id>/judge/rate/", pages.judge_rate, name="judge_rate"),
    path("books/<int:book_id>/judge/pause/", pages.judge_pause, name="judge_pause"),
    path("books/<int:book_id>/judge/undo/", pages.judge_undo, name="judge_undo"),
]
