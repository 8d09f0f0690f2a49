"""URLs of the judge models of a book."""

from django.urls import path

from . import answer_pages, calibration_page, job_pages, pages

urlpatterns = [
    path("books/<int:book_id>/judge-models/", pages.judge_model_list, name="judge_models"),
    path("books/<int:book_id>/judge-models/new/", pages.judge_model_new, name="judge_model_new"),
    path(
        "books/<int:book_id>/judge-models/<int:judge_id>/sample/",
        calibration_page.sample_draw,
        name="judge_model_sample",
    ),
    path("books/<int:book_id>/judge-models/<int:judge_id>/", job_pages.judge_model, name="judge_model"),
    path(
        "books/<int:book_id>/judge-models/<int:judge_id>/answers/",
        answer_pages.judge_model_answers,
        name="judge_model_answers",
    ),
    path(
        "books/<int:book_id>/judge-models/<int:judge_id>/prompt/",
        answer_pages.judge_model_prompt,
        name="judge_model_prompt",
    ),
    path(
        "books/<int:book_id>/judge-models/<int:judge_id>/instructions/",
        answer_pages.instructions_change,
        name="judge_model_instructions",
    ),
    path(
        "books/<int:book_id>/judge-models/<int:judge_id>/settings/",
        pages.judge_model_settings,
        name="judge_model_settings",
    ),
    path("books/<int:book_id>/judge-models/<int:judge_id>/start/", job_pages.job_start, name="judge_model_start"),
    path("books/<int:book_id>/judge-models/<int:judge_id>/trial/", job_pages.job_trial, name="judge_model_trial"),
    path("books/<int:book_id>/judge-models/<int:judge_id>/stop/", job_pages.job_stop, name="judge_model_stop"),
    path(
        "books/<int:book_id>/judge-models/<int:judge_id>/automatic/",
        job_pages.automatic_change,
        name="judge_model_automatic",
    ),
    path("books/<int:book_id>/judge-models/<int:judge_id>/count/", job_pages.ratings_count, name="judge_model_count"),
    path(
        "books/<int:book_id>/judge-models/<int:judge_id>/calibration/",
        calibration_page.judge_model_calibration,
        name="judge_model_calibration",
    ),
    path("books/<int:book_id>/judge-models/<int:judge_id>/key/", pages.judge_model_key, name="judge_model_key"),
    path(
        "books/<int:book_id>/judge-models/<int:judge_id>/archive/",
        pages.judge_model_archive,
        name="judge_model_archive",
    ),
]
