"""Counts and times of events: requests, tasks, requests to search engines, scripts that were stopped."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.conf import settings
from prometheus_client import Metric

from .process_files import ProcessFiles


@dataclass(frozen=True)
class EventMetric:
    """What is counted of an event, by all its labels, and the times of it by one.

    seconds: the name of the histogram of times; empty for events that take no time. timed_by: its label.
    """

    name: str
    help: str
    seconds: str = ""
    timed_by: str = ""


BUCKETS = (0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0)  # seconds
METRICS = {
    "request": EventMetric("relevancy_requests", "Requests to the site.", "relevancy_request_seconds", "view"),
    "task": EventMetric("relevancy_tasks_ended", "Background tasks that ended.", "relevancy_task_seconds", "task"),
    "engine_request": EventMetric(
        "relevancy_engine_requests", "Requests to search engines.", "relevancy_engine_request_seconds", "endpoint"
    ),
    "sandbox_stop": EventMetric("relevancy_sandbox_stops", "Scripts that were stopped, by reason."),
}


@cache
def process_files(folder: Path) -> ProcessFiles:
    """Returns the counts in a folder."""
    return ProcessFiles(folder)


def count_event(name: str, seconds: float, labels: Mapping[str, str]) -> None:
    """Counts an event of `relevancy.events`. Events that have no metric are ignored."""
    metric = METRICS.get(name)
    if metric is None:
        return
    files = process_files(settings.METRICS_DIR)
    files.count(metric.name, metric.help, labels)
    if metric.seconds:
        timed = {metric.timed_by: labels[metric.timed_by]}
        files.observe(metric.seconds, f"{metric.help} Seconds.", timed, seconds, BUCKETS)


class EventCollector:
    """The counts of all processes that share the data folder, for a registry of prometheus-client."""

    def collect(self) -> Iterable[Metric]:
        """Returns the metrics."""
        return process_files(settings.METRICS_DIR).read()
