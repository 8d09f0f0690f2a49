"""URLs of the schedule of a case."""

from django.urls import path

from . import pages

urlpatterns = [
    path("cases/<int:case_id>/schedule/", pages.schedule, name="case_schedule"),
    path("cases/<int:case_id>/schedule/save/", pages.schedule_save, name="case_schedule_save"),
    path("cases/<int:case_id>/schedule/remove/", pages.schedule_remove, name="case_schedule_remove"),
]
