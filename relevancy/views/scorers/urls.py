"""URLs of scorers."""

from django.urls import path

from . import actions, editing, files, measure, pages, preview, usage

urlpatterns = [
    path("scorers/", pages.scorer_list, name="scorers"),
    path("scorers/new/", editing.scorer_new, name="scorer_new"),
    path("scorers/measure/", measure.scorer_measure, name="scorer_measure"),
    path("scorers/try/", preview.scorer_try, name="scorer_try"),
    path("scorers/queries/", preview.scorer_queries, name="scorer_queries"),
    path("scorers/import/", files.scorer_import, name="scorer_import"),
    path("scorers/policy/", actions.scorer_policy, name="scorer_policy"),
    path("scorers/<int:scorer_id>/", pages.scorer, name="scorer"),
    path("scorers/<int:scorer_id>/edit/", editing.scorer_edit, name="scorer_edit"),
    path("scorers/<int:scorer_id>/duplicate/", actions.scorer_duplicate, name="scorer_duplicate"),
    path("scorers/<int:scorer_id>/share/", actions.scorer_share, name="scorer_share"),
    path("scorers/<int:scorer_id>/retire/", actions.scorer_retire, name="scorer_retire"),
    path("scorers/<int:scorer_id>/restore/", actions.scorer_restore, name="scorer_restore"),
    path("scorers/<int:scorer_id>/default/", actions.scorer_default, name="scorer_default"),
    path("scorers/<int:scorer_id>/communal/", actions.scorer_make_global, name="scorer_make_global"),
    path("scorers/<int:scorer_id>/delete/", actions.scorer_delete, name="scorer_delete"),
    path("scorers/<int:scorer_id>/adopt/", usage.scorer_adopt, name="scorer_adopt"),
    path("scorers/<int:scorer_id>/replace/", usage.scorer_replace, name="scorer_replace"),
    path("scorers/<int:scorer_id>/export/", files.scorer_export, name="scorer_export"),
]
