"""What raters of a book judge next, if they judge what changes the comparison of two runs most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relevancy import comparison
from relevancy.models import JudgingQueue, Run, ScorerVersion


def has_bounds(version: ScorerVersion) -> bool:
    """Returns whether documents can be put in order by what they change under a scorer: not for scripts and estimated ranges."""
    return comparison.has_exact_range(version)


class ChangeMeter:
    """Measures how much each document can change the difference of the two runs of a queue, in points.

    A document of a query that only one of the cases has, or that no scorer of the comparison looks at, changes nothing.
    """

    def __init__(self, queue: JudgingQueue) -> None:
        self._planner: comparison.RatingPlanner | None = None
        runs = Run.objects.select_related("case__book").in_bulk([queue.run_a_id, queue.run_b_id])
        if len(runs) == 2 and queue.version is not None:
            self._planner = comparison.build_planner([runs[queue.run_a_id], runs[queue.run_b_id]], queue.version)

    def measure(self, query_ids: Sequence[int]) -> Mapping[tuple[int, str], float]:
        """Returns `{(query id, document id): points}` of the unrated documents of these queries that can change it at all."""
        if self._planner is None:
            return {}
        compared = [query_id for query_id in query_ids if query_id in self._planner.weights]
        return {
            (document.query_id, document.doc_id): document.change for document in self._planner.try_documents(compared)
        }
