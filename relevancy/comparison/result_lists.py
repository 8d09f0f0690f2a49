"""How much the result lists of two runs differ. No ratings needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from relevancy.models import Ranking, Run, read_doc_ids
from relevancy.statistics import jaccard, rbo

SAME, REORDERED, OTHER_DOCUMENTS = 0, 1, 2
BATCH = 500  # rankings read at a time


@dataclass(frozen=True)
class ListChange:
    """How much the first k results of one query differ between two runs.

    jaccard, rbo: overlap, 0 to 1. kind: `SAME`, `REORDERED` or `OTHER_DOCUMENTS`.
    """

    jaccard: float
    rbo: float
    kind: int


@dataclass(frozen=True)
class ListOverlap:
    """Means over the queries that were searched successfully in both runs, within the first k results.

    k: results compared.
    queries: how many queries were compared. With 0 the means are None.
    jaccard, rbo: mean overlap, 0 to 1.
    changed: share of the queries whose first k changed, as a set or in their order.
    changed_set: share of the queries whose first k are other documents.
    """

    k: int
    queries: int
    jaccard: float | None
    rbo: float | None
    changed: float | None
    changed_set: float | None

    @classmethod
    def summarize(cls, k: int, changes: Sequence[ListChange]) -> ListOverlap:
        """Returns the means of changes in the first k results."""
        count = len(changes)
        if not count:
            return cls(k, 0, None, None, None, None)
        return cls(
            k,
            count,
            sum(change.jaccard for change in changes) / count,
            sum(change.rbo for change in changes) / count,
            sum(change.kind != SAME for change in changes) / count,
            sum(change.kind == OTHER_DOCUMENTS for change in changes) / count,
        )


NOT_COMPARED = ListOverlap(0, 0, None, None, None, None)


def compare_lists(before: Sequence[str], after: Sequence[str], k: int) -> ListChange:
    """Compares the first k document ids of two result lists, which may contain repeats."""
    before, after = unique(before[:k]), unique(after[:k])
    kind = SAME if before == after else REORDERED if set(before) == set(after) else OTHER_DOCUMENTS
    return ListChange(jaccard(before, after), rbo(before, after), kind)


def unique(doc_ids: Sequence[str]) -> list[str]:
    """Returns the ids without repeats, each at its best rank."""
    return list(dict.fromkeys(doc_ids))


@dataclass(frozen=True, slots=True)
class ResultList:
    """The document ids of a ranking, and how long its search took."""

    doc_ids: list[str]
    took_ms: int | None


def read_lists(run: Run, query_ids: Sequence[int]) -> dict[int, ResultList]:
    """Returns `{query id: result list}` of the searches that did not fail. Two SQL statements; ask for few queries at a time."""
    rankings = Ranking.objects.filter(run=run, query__in=query_ids, error_kind="")
    listed = rankings.only("query_id", "took_ms", "returned", "documents")
    return {row.query_id: ResultList(row.doc_ids, row.took_ms) for row in read_doc_ids(list(listed))}
