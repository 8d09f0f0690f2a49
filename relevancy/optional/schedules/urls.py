"""URLs of the schedules of cases and groups."""

from django.urls import path

from . import group_pages, pages

urlpatterns = [
    path("cases/<int:case_id>/schedule/", pages.schedule, name="case_schedule"),
    path("cases/<int:case_id>/schedule/save/", pages.schedule_save, name="case_schedule_save"),
    path("cases/<int:case_id>/schedule/remove/", pages.schedule_remove, name="case_schedule_remove"),
    path("cases/<int:case_id>/schedule/test/", pages.schedule_test, name="case_schedule_test"),
    path("groups/<int:group_id>/schedule/", group_pages.group_schedule, name="group_schedule"),
    path("groups/<int:group_id>/schedule/save/", group_pages.group_schedule_save, name="group_schedule_save"),
    path("groups/<int:group_id>/schedule/remove/", group_pages.group_schedule_remove, name="group_schedule_remove"),
    path("groups/<int:group_id>/schedule/test/", group_pages.group_schedule_test, name="group_schedule_test"),
]
