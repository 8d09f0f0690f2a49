"""Search engines to ask."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models

from .access import SharedQuerySet
from .secret import EncryptedJSONField
from .team import Team


class EndpointQuerySet(SharedQuerySet):
    """Endpoints; who sees a case sees the endpoints its attempts name."""

    def _shared_role(self, user: Any) -> Any:
        own = super()._shared_role(user)
        case = self.model._meta.get_field("attempts").related_model._meta.get_field("case").related_model
        seen = case.objects.visible_to(user).filter(attempts__endpoint=models.OuterRef("pk"))
        return models.functions.Greatest(
            own,
            models.Case(
                models.When(models.Exists(seen), then=models.Value(1)),
                default=models.Value(0),
                output_field=models.IntegerField(),
            ),
        )

    def live(self) -> Any:
        """Without the archived ones."""
        return self.filter(archived_at=None)


class Endpoint(models.Model):
    """A search engine to ask. `credentials` and `headers` are encrypted and never shown again."""

    name = models.CharField(max_length=120, unique=True)
    engine = models.CharField(max_length=30)
    url = models.CharField("address", max_length=500)
    options = models.JSONField(default=dict, blank=True)
    credentials = EncryptedJSONField(default=dict, blank=True, editable=False)
    headers = EncryptedJSONField(default=dict, blank=True, editable=False)
    parallel = models.PositiveSmallIntegerField("parallel requests", default=8)
    per_minute = models.PositiveIntegerField("requests per minute", default=0, help_text="0: no limit")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="endpoints")
    teams = models.ManyToManyField(Team, blank=True, related_name="endpoints")
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar = EndpointQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        constraints = [
            models.CheckConstraint(
                condition=models.Q(parallel__gte=1, parallel__lte=64), name="endpoint_parallel_1_to_64"
            )
        ]

    def __str__(self) -> str:
        return self.name
