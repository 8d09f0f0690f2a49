"""What raters of a book judge next, if they judge what changes the comparison of two runs most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relevancy import comparison, judging
from relevancy.models import Book, JudgingQueue, Run, ScorerDefinition, ScorerVersion


def build_judging_queue(book: Book) -> int:
    """Chooses the pairs of a book again, by any of the orders. Returns their number."""
    return judging.build_judging_queue(book=book, read_changes=ChangeMeter())


def refresh_judging_order(book: Book) -> int:
    """Computes the order again for the queries that have got ratings, if it depends on them. Returns the number of these queries."""
    return judging.refresh_judging_order(book=book, read_changes=ChangeMeter())


def has_bounds(version: ScorerVersion) -> bool:
    """Returns whether documents can be put in order by what they change under a scorer: not for scripts and estimated ranges."""
    return comparison.read_exact_measure(ScorerDefinition.of(version)) is not None


class ChangeMeter:
    """Measures how much each document can change the difference of the two runs of a queue, in points.

    A document of a query that only one of the cases has, or that no scorer of the comparison looks at, changes nothing.
    """

    def __init__(self) -> None:
        self._planner: comparison.RatingPlanner | None = None
        self._queue: JudgingQueue | None = None

    def __call__(self, queue: JudgingQueue, query_ids: Sequence[int]) -> Mapping[tuple[int, str], float]:
        if self._queue is not queue:
            self._queue, self._planner = queue, self._build(queue)
        if self._planner is None:
            return {}
        compared = [query_id for query_id in query_ids if query_id in self._planner.weights]
        return {
            (document.query_id, document.doc_id): document.change for document in self._planner.try_documents(compared)
        }

    def _build(self, queue: JudgingQueue) -> comparison.RatingPlanner | None:
        runs = Run.objects.select_related("case__book").in_bulk([queue.run_a_id, queue.run_b_id])
        if len(runs) < 2 or queue.version is None:
            return None
        return comparison.build_planner([runs[queue.run_a_id], runs[queue.run_b_id]], queue.version)
