"""The one Django app."""

from django.apps import AppConfig


class RelevancyConfig(AppConfig):
    name = "relevancy"
    verbose_name = "Relevancy"
