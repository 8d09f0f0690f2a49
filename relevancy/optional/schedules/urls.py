"""Addresses of the schedules of cases and groups."""

from django.urls import path

from . import pages

urlpatterns = [
    path(f"{kind}s/<int:{kind}_id>/schedule/{ending}", view, name=f"{kind}_schedule{name}")
    for kind in ("case", "group")
    for ending, view, name in (
        ("", pages.schedule, ""),
        ("save/", pages.schedule_save, "_save"),
        ("remove/", pages.schedule_remove, "_remove"),
        ("test/", pages.schedule_test, "_test"),
    )
]
