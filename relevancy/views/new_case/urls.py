"""URLs of the steps of a new case."""

from django.urls import path

from . import pages

urlpatterns = [
    path("cases/new/", pages.begin, name="new_case"),
    path("cases/new/start-over/", pages.start_over, name="new_case_start_over"),
    path("cases/new/<slug:step>/", pages.new_case, name="new_case_step"),
]
