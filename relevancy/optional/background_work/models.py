"""Worker processes, by the signs of life that they give."""

from django.db import models


class WorkerProcess(models.Model):
    """A worker process on some machine.

    host, pid: where it runs, and its number there. Two containers may have the same number.
    seen_at: its last sign of life, which it gives every quarter of a minute.
    """

    host = models.CharField(max_length=250)
    pid = models.PositiveIntegerField()
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        ordering = ("-seen_at", "id")
        verbose_name_plural = "worker processes"

    def __str__(self) -> str:
        return f"{self.host} {self.pid}"
