"""URLs of the report of a case."""

from django.urls import path

from . import pages

urlpatterns = [
    path("cases/<int:case_id>/report/", pages.show, name="report"),
    path("cases/<int:case_id>/report/queries.csv", pages.queries_csv, name="report_csv"),
    path("cases/<int:case_id>/report/report.json", pages.report_json, name="report_json"),
]
