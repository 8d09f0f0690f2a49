"""Numbered versions of how a case queries its engine."""

from typing import Any

from django.conf import settings
from django.core.validators import MaxLengthValidator
from django.db import models

from .case import Case
from .endpoint import Endpoint
from .text import CodeField, LineField, MultilineField

MAX_KNOB_TEXT = 500  # characters of a knob that is a text


class Attempt(models.Model):
    """Query template, knobs, endpoint, displayed fields and depth. Immutable once it has been run; a change creates the next one.

    Name and note can change at any time. An archived attempt is left out of the tree, and keeps its runs.
    """

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="children")
    name = LineField(max_length=120, blank=True)
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="attempts")
    template = CodeField(max_length=20_000)
    # `{name: number or text}` of the knobs that the template uses; a text that reads as a number is one.
    knobs = models.JSONField(default=dict, blank=True)
    fields = models.CharField("displayed fields", max_length=2000, blank=True)
    depth = models.PositiveSmallIntegerField("results shown", default=10)
    escape = models.BooleanField("escape Lucene's special characters", default=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="attempts")
    created_at = models.DateTimeField(auto_now_add=True)
    note = MultilineField(blank=True, validators=[MaxLengthValidator(2_000)])
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("case", "-number")
        constraints = [
            models.UniqueConstraint(fields=("case", "number"), name="attempt_number_once"),
            models.CheckConstraint(condition=models.Q(depth__gte=1, depth__lte=1000), name="attempt_depth_1_to_1000"),
        ]

    def __str__(self) -> str:
        return f"Attempt {self.number}"

    @property
    def content(self) -> dict[str, Any]:
        """What decides the requests, which never changes once it has been run: values by the names of the fields."""
        names = ("endpoint_id", "template", "fields", "knobs", "depth", "escape")
        return {name: getattr(self, name) for name in names}
