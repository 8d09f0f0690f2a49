"""What the database says at the time of the scrape: the same on every machine."""

import shutil
from collections.abc import Iterator
from importlib.metadata import version

from django.conf import settings
from django.db.models import Count, F, Max, Min, Sum
from django.tasks import TaskResultStatus
from django.utils import timezone
from django_tasks_db.models import DBTaskResult
from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from relevancy import tasks
from relevancy.models import RatingChange, RatingImport, Run

TASK_STATUSES = {
    TaskResultStatus.READY: "waiting",
    TaskResultStatus.RUNNING: "running",
    TaskResultStatus.FAILED: "failed",
}


class SiteCollector:
    """State of the site, for a registry of prometheus-client. A bounded number of SQL statements, each on an index or a small table."""

    def collect(self) -> Iterator[Metric]:
        """Yields the metrics."""
        info = GaugeMetricFamily("relevancy_info", "The version of the site; always 1.", labels=["version"])
        info.add_metric([version("relevancy")], 1)
        yield info
        yield from _task_metrics()
        yield from _run_metrics()
        imports = GaugeMetricFamily(
            "relevancy_rating_imports", "Large imports of ratings by status.", labels=["status"]
        )
        rows = RatingImport.objects.order_by().values_list("status").annotate(Count("pk"))
        _add_counts(imports, dict(rows), RatingImport.Status.values)
        yield imports
        last = RatingChange.objects.aggregate(last=Max("pk"))["last"] or 0
        yield CounterMetricFamily(
            "relevancy_rating_changes", "Ratings that were given, changed or removed.", value=last
        )
        free = shutil.disk_usage(settings.DATA_DIR).free
        yield GaugeMetricFamily(
            "relevancy_data_folder_free_bytes", "Free disk space of the data folder of this machine.", value=free
        )


def _task_metrics() -> Iterator[Metric]:
    """Yields the metrics of the task queue, which only the database as its backend shows."""
    if not tasks.is_queue_in_database():
        return
    by_status = GaugeMetricFamily("relevancy_tasks", "Background tasks by status.", labels=["status"])
    waiting = DBTaskResult.objects.order_by().filter(status__in=TASK_STATUSES)
    counts = {TASK_STATUSES[status]: count for status, count in waiting.values_list("status").annotate(Count("pk"))}
    _add_counts(by_status, counts, TASK_STATUSES.values())
    yield by_status
    ready = DBTaskResult.objects.ready().order_by()
    oldest = ready.aggregate(oldest=Min("enqueued_at"))["oldest"]
    yield GaugeMetricFamily(
        "relevancy_oldest_waiting_task_seconds",
        "How long the oldest task that could begin has waited; grows while no worker works.",
        value=(timezone.now() - oldest).total_seconds() if oldest else 0,
    )


def _run_metrics() -> Iterator[Metric]:
    runs = GaugeMetricFamily("relevancy_runs", "Runs by status.", labels=["status"])
    _add_counts(runs, dict(Run.objects.order_by().values_list("status").annotate(Count("pk"))), Run.Status.values)
    yield runs
    active = Run.objects.active().order_by().aggregate(left=Sum(F("queries") - F("done")))
    yield GaugeMetricFamily(
        "relevancy_run_queries_left", "Queries that active runs still have to search.", value=active["left"] or 0
    )


def _add_counts(metric: GaugeMetricFamily, counts: dict[str, int], statuses: object) -> None:
    """Adds a sample for each status, those without rows included: an alert needs the 0."""
    for status in statuses:  # type: ignore[attr-defined]
        metric.add_metric([str(status)], counts.get(str(status), 0))
