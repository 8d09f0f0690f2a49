"""URLs of the list of all attempts of a case."""

from django.urls import path

from . import pages

urlpatterns = [
    path("cases/<int:case_id>/attempts/all/", pages.show, name="attempt_list"),
    path("cases/<int:case_id>/attempts/compare/", pages.compare, name="attempt_compare"),
    path("cases/<int:case_id>/attempts/<int:number>/duplicate/", pages.duplicate, name="attempt_duplicate"),
]
