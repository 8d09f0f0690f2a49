"""Addresses of the outcomes of a case."""

from django.urls import path

from . import pages

urlpatterns = [
    path("cases/<int:case_id>/online/", pages.online_outcomes, name="online_outcomes"),
    path("cases/<int:case_id>/online/import/", pages.online_outcome_import, name="online_outcome_import"),
    path(
        "cases/<int:case_id>/online/<int:outcome_id>/delete/",
        pages.online_outcome_delete,
        name="online_outcome_delete",
    ),
]
