"""URLs of the home page and of actions on a whole case."""

from django.urls import path

from . import case_actions, pages

urlpatterns = [
    path("", pages.home, name="home"),
    path("cases/active/", pages.active_cases, name="active_cases"),
    path("cases/<int:case_id>/share/", case_actions.case_share, name="case_share"),
    path("cases/<int:case_id>/rename/", case_actions.case_rename, name="case_rename"),
    path("cases/<int:case_id>/archive/", case_actions.case_archive, name="case_archive"),
    path("cases/<int:case_id>/restore/", case_actions.case_restore, name="case_restore"),
    path("cases/<int:case_id>/duplicate/", case_actions.case_duplicate, name="case_duplicate"),
    path("cases/<int:case_id>/delete/", case_actions.case_delete, name="case_delete"),
]
