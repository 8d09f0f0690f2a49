"""URLs of the page Judge and of judging documents."""

from django.urls import path

from . import pages, query_list, work

urlpatterns = [
    path("judge/", work.judging_work, name="judging_work"),
    path("books/<int:book_id>/judge/", pages.judge, name="judge"),
    path("books/<int:book_id>/judge/rate/", pages.judge_rate, name="judge_rate"),
    path("books/<int:book_id>/judge/list/", query_list.judge_list, name="judge_list"),
    path("books/<int:book_id>/judge/list/<int:query_id>/rate/", query_list.judge_list_rate, name="judge_list_rate"),
    path("books/<int:book_id>/judge/pause/", pages.judge_pause, name="judge_pause"),
    path("books/<int:book_id>/judge/undo/", pages.judge_undo, name="judge_undo"),
]
