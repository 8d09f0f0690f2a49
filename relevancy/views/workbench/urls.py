"""URLs of the workbench of a case: its page, its queries, their ratings, its runs."""

from django.urls import path

from . import (
    annotations,
    attempts,
    autocomplete,
    case_scorers,
    explain,
    export,
    ordering,
    pages,
    queries,
    query_notes,
    ratings,
    runs,
    unretrieved,
    working,
)

urlpatterns = [
    path("cases/<int:case_id>/", pages.show, name="case"),
    path("cases/<int:case_id>/state/", pages.state, name="run_state"),
    path("cases/<int:case_id>/scorer/", case_scorers.choose, name="case_scorer"),
    path("cases/<int:case_id>/scorers/", case_scorers.add, name="case_scorer_add"),
    path("cases/<int:case_id>/scorers/again/", case_scorers.score_again, name="case_score_again"),
    path("cases/<int:case_id>/scorers/<int:scorer_id>/remove/", case_scorers.remove, name="case_scorer_remove"),
    path("cases/<int:case_id>/scorers/<int:scorer_id>/restore/", case_scorers.restore, name="case_scorer_restore"),
    path("cases/<int:case_id>/scorers/<int:scorer_id>/adopt/", case_scorers.adopt, name="case_scorer_adopt"),
    path("cases/<int:case_id>/queries/", queries.add, name="queries_add"),
    path("cases/<int:case_id>/queries/<int:entry_id>/", queries.show, name="query"),
    path("cases/<int:case_id>/queries/<int:entry_id>/edit/", queries.edit, name="query_edit"),
    path("cases/<int:case_id>/queries/<int:entry_id>/remove/", queries.remove, name="query_remove"),
    path("cases/<int:case_id>/queries/<int:entry_id>/restore/", queries.restore, name="query_restore"),
    path("cases/<int:case_id>/queries/<int:entry_id>/search/", queries.search_again, name="query_search"),
    path("cases/<int:case_id>/queries/<int:entry_id>/request/", queries.rendered_request, name="query_request"),
    path("cases/<int:case_id>/queries/<int:entry_id>/document/", queries.document, name="document"),
    path("cases/<int:case_id>/queries/<int:entry_id>/working/", working.show, name="query_working"),
    path("cases/<int:case_id>/queries/<int:entry_id>/rate/", ratings.rate, name="rate"),
    path("cases/<int:case_id>/queries/<int:entry_id>/rate-shown/", ratings.rate_shown, name="rate_shown"),
    path("cases/<int:case_id>/ratings/undo/", ratings.undo, name="rating_undo"),
    path("cases/<int:case_id>/queries.csv", export.export, name="queries_csv"),
    path("cases/<int:case_id>/tags/", query_notes.segments, name="segments"),
    path("cases/<int:case_id>/autocomplete/", autocomplete.autocomplete, name="autocomplete"),
    path("cases/<int:case_id>/queries/<int:entry_id>/move/", ordering.move, name="query_move"),
    path("cases/<int:case_id>/queries/<int:entry_id>/about/", query_notes.about, name="query_about"),
    path("cases/<int:case_id>/queries/<int:entry_id>/notes/", query_notes.notes, name="query_notes"),
    path("cases/<int:case_id>/queries/<int:entry_id>/tag/", query_notes.tag, name="query_tag"),
    path("cases/<int:case_id>/queries/<int:entry_id>/explain/", explain.explain, name="query_explain"),
    path(
        "cases/<int:case_id>/queries/<int:entry_id>/explanations/", explain.explain_results, name="query_explanations"
    ),
    path("cases/<int:case_id>/queries/<int:entry_id>/unretrieved/", unretrieved.unretrieved, name="query_unretrieved"),
    path("cases/<int:case_id>/annotations/", annotations.annotation_list, name="annotations"),
    path("cases/<int:case_id>/annotations/<int:annotation_id>/", annotations.change, name="annotation_change"),
    path("cases/<int:case_id>/annotations/<int:annotation_id>/remove/", annotations.remove, name="annotation_remove"),
    path(
        "cases/<int:case_id>/annotations/<int:annotation_id>/restore/", annotations.restore, name="annotation_restore"
    ),
    path("cases/<int:case_id>/run/", runs.run, name="run"),
    path("cases/<int:case_id>/attempts/", attempts.attempt_tree, name="attempts"),
    path("cases/<int:case_id>/attempts/<int:number>/", attempts.edit, name="attempt_edit"),
    path("cases/<int:case_id>/attempts/<int:number>/archive/", attempts.archive, name="attempt_archive"),
    path("cases/<int:case_id>/attempts/<int:number>/restore/", attempts.restore, name="attempt_restore"),
    path("cases/<int:case_id>/preview/", runs.preview, name="attempt_preview"),
    path("cases/<int:case_id>/runs/<int:number>/cancel/", runs.cancel, name="run_cancel"),
    path("cases/<int:case_id>/runs/<int:number>/complete/", runs.complete, name="run_complete"),
]
