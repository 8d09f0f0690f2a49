"""Scores of cases for Grafana: of the cases that a user may see, under their primary scorer."""

from collections.abc import Iterator, Mapping
from itertools import batched

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from relevancy.cases import dashboard
from relevancy.cases.dashboard import CaseRow
from relevancy.models import User

MAX_CASES = 2_000  # those with the newest activity
BATCH = 500
LABELS = ("case", "name", "scorer")
HELP: Mapping[str, str] = {
    "score": "The score of the newest scored run, 0 to 100, under the primary scorer.",
    "score_low": "The lowest score that the run could have if all results were rated.",
    "score_high": "The highest score that the run could have if all results were rated.",
    "coverage_ratio": "The share of the queries of the run that have a score.",
    "unrated_results": "Results that count for the score and nobody has rated.",
    "queries": "Queries of the case.",
    "last_run_timestamp_seconds": "When the newest run ended, or was created if it has not.",
}


class CaseCollector:
    """The cases of a user, for a registry of prometheus-client. Three SQL statements for each 500 cases."""

    def __init__(self, user: User) -> None:
        self._user = user

    def collect(self) -> Iterator[Metric]:
        """Yields the metrics. Cases without a value, such as without a run, have no sample of it."""
        metrics = {key: GaugeMetricFamily(f"relevancy_case_{key}", text, labels=LABELS) for key, text in HELP.items()}
        cases = dashboard.find_cases(self._user)[:MAX_CASES]
        for batch in batched(cases, BATCH):
            for row in dashboard.case_rows(batch):
                labels = [str(row.case.pk), row.case.name, row.version.scorer.name if row.version else ""]
                for key, value in _values(row).items():
                    if value is not None:
                        metrics[key].add_metric(labels, value)
        yield from metrics.values()


def _values(row: CaseRow) -> dict[str, float | None]:
    values: dict[str, float | None] = {"queries": row.query_count}
    if row.run is not None:
        values["last_run_timestamp_seconds"] = (row.run.finished_at or row.run.created_at).timestamp()
    if row.score is not None:
        values |= {"score": row.score.score, "score_low": row.score.low, "score_high": row.score.high}
        values["unrated_results"] = row.score.unrated
        values["coverage_ratio"] = row.score.scored / row.score.queries if row.score.queries else None
    return values
