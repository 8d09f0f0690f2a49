"""Addresses of the page “Work”."""

from django.urls import path

from . import pages

urlpatterns = [
    path("administration/work/", pages.work, name="background_work"),
    path("administration/work/tasks/<uuid:task_id>/again/", pages.repeat_task, name="background_task_again"),
]
