"""URLs of preference tests: which of two result lists is better."""

from django.urls import path

from . import judging, pages

urlpatterns = [
    path("cases/<int:case_id>/compare/preferences/new/", pages.preference_new, name="preference_new"),
    path("books/<int:book_id>/preferences/", pages.preference_list, name="preferences"),
    path("books/<int:book_id>/preferences/<int:test_id>/", judging.preference, name="preference"),
    path("books/<int:book_id>/preferences/<int:test_id>/choose/", judging.preference_choose, name="preference_choose"),
    path("books/<int:book_id>/preferences/<int:test_id>/undo/", judging.preference_undo, name="preference_undo"),
    path("books/<int:book_id>/preferences/<int:test_id>/close/", pages.preference_close, name="preference_close"),
    path("books/<int:book_id>/preferences/<int:test_id>/result/", pages.preference_result, name="preference_result"),
]
