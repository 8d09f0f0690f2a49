"""Addresses of studies."""

from django.urls import path

from . import pages

urlpatterns = [
    path("cases/<int:case_id>/studies/", pages.study_list, name="studies"),
    path("cases/<int:case_id>/studies/new/", pages.study_new, name="study_new"),
    path("cases/<int:case_id>/studies/new/plan/", pages.study_plan, name="study_plan"),
    path("cases/<int:case_id>/studies/<int:study_number>/", pages.study, name="study"),
    path("cases/<int:case_id>/studies/<int:study_number>/stop/", pages.study_stop, name="study_stop"),
    path("cases/<int:case_id>/studies/<int:study_number>/continue/", pages.study_continue, name="study_continue"),
    path("cases/<int:case_id>/studies/<int:study_number>/delete/", pages.study_delete, name="study_delete"),
    path("cases/<int:case_id>/studies/<int:study_number>/adopt/", pages.study_adopt, name="study_adopt"),
    path("cases/<int:case_id>/studies/<int:study_number>/open/", pages.study_open_sealed, name="study_open_sealed"),
    path("cases/<int:case_id>/sealed-queries/", pages.sealed, name="sealed_queries"),
]
