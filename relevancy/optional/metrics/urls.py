"""Addresses that Prometheus reads. They have no slash at the end, as it expects."""

from django.urls import path

from . import pages

urlpatterns = [
    path("metrics", pages.metrics, name="metrics"),
    path("metrics/cases", pages.case_metrics, name="case_metrics"),
]
