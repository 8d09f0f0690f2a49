"""URLs of the comparison of runs of a case."""

from django.urls import path

from . import export, pages, pins, ratings

urlpatterns = [
    path("cases/<int:case_id>/compare/", pages.show, name="compare"),
    path("cases/<int:case_id>/compare/state/", pages.state, name="compare_state"),
    path("cases/<int:case_id>/compare/queries/<int:case_query_id>/rate/", ratings.rate, name="compare_rate"),
    path("cases/<int:case_id>/compare/queries.csv", export.export, {"ending": "csv"}, name="compare_csv"),
    path("cases/<int:case_id>/compare/figures.json", export.export, {"ending": "json"}, name="compare_json"),
    path("cases/<int:case_id>/compare/report.html", export.export, {"ending": "html"}, name="compare_report"),
    path("cases/<int:case_id>/runs/<int:number>/pin/", pins.pin, name="run_pin"),
    path("cases/<int:case_id>/runs/<int:number>/unpin/", pins.unpin, name="run_unpin"),
    path("cases/<int:case_id>/runs/<int:number>/details/", pins.edit, name="run_details"),
]
