"""URLs of the features of a case."""

from django.urls import path

from . import model_pages, pages

urlpatterns = [
    path("cases/<int:case_id>/features/", pages.features, name="features"),
    path("cases/<int:case_id>/features/<int:version>/", pages.feature_set, name="feature_set"),
    path("cases/<int:case_id>/features/<int:version>/figures/", pages.feature_figures, name="feature_figures"),
    path("cases/<int:case_id>/features/<int:version>/log/", pages.feature_log, name="feature_log"),
    path("cases/<int:case_id>/features/<int:version>/stop/", pages.feature_log_stop, name="feature_log_stop"),
    path("cases/<int:case_id>/features/<int:version>/go-on/", pages.feature_log_go_on, name="feature_log_go_on"),
    path("cases/<int:case_id>/features/<int:version>/delete/", pages.feature_set_delete, name="feature_set_delete"),
    path("cases/<int:case_id>/features/<int:version>/<slug:file_kind>.file", pages.feature_file, name="feature_file"),
    path("cases/<int:case_id>/features/<int:version>/fit/", model_pages.feature_model_fit, name="feature_model_fit"),
    path(
        "cases/<int:case_id>/features/<int:version>/models/<int:model_id>/",
        model_pages.feature_model,
        name="feature_model",
    ),
    path(
        "cases/<int:case_id>/features/<int:version>/models/<int:model_id>/<slug:product>.file",
        model_pages.feature_model_file,
        name="feature_model_file",
    ),
    path(
        "cases/<int:case_id>/features/<int:version>/models/<int:model_id>/attempt/",
        model_pages.feature_model_adopt,
        name="feature_model_adopt",
    ),
    path(
        "cases/<int:case_id>/features/<int:version>/models/<int:model_id>/rerank/",
        model_pages.feature_model_rerank,
        name="feature_model_rerank",
    ),
]
