"""The Django app."""

from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from relevancy import database_checks  # noqa: F401 (it registers checks)
from relevancy.engines import AddressRules, InvalidEngine, available
from relevancy.scoring import MeasureError, get_definitions


class RelevancyConfig(AppConfig):
    name = "relevancy"
    verbose_name = "Relevancy"

    def ready(self) -> None:
        """Refuses to start with packages whose measures or engines cannot be used, such as two of the same name, and with
        hosts of endpoints that cannot be read."""
        try:
            get_definitions()
            available()
        except (MeasureError, InvalidEngine) as error:
            raise ImproperlyConfigured(str(error)) from error
        try:
            AddressRules.parse(settings.ENDPOINT_HOSTS)
        except ValueError as error:
            raise ImproperlyConfigured(f"RELEVANCY_ENDPOINT_HOSTS: {error}") from error
