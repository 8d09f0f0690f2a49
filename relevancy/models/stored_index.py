"""Indexes and files of rankings that are kept on this server, with their owners.

See docs/decisions/0034.
"""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from .access import SharedQuerySet
from .team import Team


class StoredIndexQuerySet(SharedQuerySet["StoredIndex"]):
    """Stored indexes. Endpoints of those who have the role editor on one may name it as their address."""


class StoredIndex(models.Model):
    """An embedded index, or an uploaded file of rankings, below the data directory: whose documents it contains.

    `engine`, `name`: those of the endpoints that name it. The row exists from the moment the name is first used.
    """

    engine = models.CharField(max_length=30)
    name = models.CharField(max_length=500)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="stored_indexes")
    teams = models.ManyToManyField(Team, blank=True, related_name="stored_indexes")
    created_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar = StoredIndexQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "stored indexes"
        ordering = ("engine", "name")
        constraints = [models.UniqueConstraint(fields=("engine", "name"), name="stored_index_once")]

    def __str__(self) -> str:
        return self.name
