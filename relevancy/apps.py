"""The Django app."""

from django.apps import AppConfig
from django.core.exceptions import ImproperlyConfigured

from relevancy.engines import InvalidEngine, available
from relevancy.scoring import MeasureError, get_definitions


class RelevancyConfig(AppConfig):
    name = "relevancy"
    verbose_name = "Relevancy"

    def ready(self) -> None:
        """Refuses to start with packages whose measures or engines cannot be used, such as two of the same name."""
        try:
            get_definitions()
            available()
        except (MeasureError, InvalidEngine) as error:
            raise ImproperlyConfigured(str(error)) from error
