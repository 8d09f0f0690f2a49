"""URLs of the history of a case."""

from django.urls import path

from . import changed_score, pages

urlpatterns = [
    path("cases/<int:case_id>/history/", pages.show, name="history"),
    path("cases/<int:case_id>/history/state/", pages.state, name="history_state"),
    path("cases/<int:case_id>/history/runs/<int:number>/ratings/", changed_score.changed_score, name="changed_score"),
    path("cases/<int:case_id>/history/runs.csv", pages.export, name="history_csv"),
]
