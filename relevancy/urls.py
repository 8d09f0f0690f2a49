"""Every address of the site."""

from django.contrib import admin
from django.urls import path

from relevancy.views import health, queries, rating, runs, workbench

# The workbench of a case: its page, its queries, their ratings, its runs.
urlpatterns = [
    path("admin/", admin.site.urls),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("cases/<int:case_id>/", workbench.show, name="case"),
    path("cases/<int:case_id>/state/", workbench.state, name="run_state"),
    path("cases/<int:case_id>/scorer/", workbench.choose_scorer, name="case_scorer"),
    path("cases/<int:case_id>/queries/", queries.add, name="queries_add"),
    path("cases/<int:case_id>/queries/<int:entry_id>/", queries.show, name="query"),
    path("cases/<int:case_id>/queries/<int:entry_id>/edit/", queries.edit, name="query_edit"),
    path("cases/<int:case_id>/queries/<int:entry_id>/remove/", queries.remove, name="query_remove"),
    path("cases/<int:case_id>/queries/<int:entry_id>/restore/", queries.restore, name="query_restore"),
    path("cases/<int:case_id>/queries/<int:entry_id>/search/", queries.search_again, name="query_search"),
    path("cases/<int:case_id>/queries/<int:entry_id>/sent/", queries.as_sent, name="query_sent"),
    path("cases/<int:case_id>/queries/<int:entry_id>/document/", queries.document, name="document"),
    path("cases/<int:case_id>/queries/<int:entry_id>/rate/", rating.rate, name="rate"),
    path("cases/<int:case_id>/queries/<int:entry_id>/rate-shown/", rating.rate_shown, name="rate_shown"),
    path("cases/<int:case_id>/run/", runs.run, name="run"),
    path("cases/<int:case_id>/preview/", runs.preview, name="attempt_preview"),
    path("cases/<int:case_id>/runs/<int:number>/cancel/", runs.cancel, name="run_cancel"),
    path("cases/<int:case_id>/runs/<int:number>/complete/", runs.complete, name="run_complete"),
]
