"""How much the result lists of two runs differ. No ratings needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from relevancy.models import CaseQuery, Ranking, Run
from relevancy.statistics import count_movements, jaccard, rbo

BATCH = 500  # rankings read at a time: their hits are large


@dataclass(frozen=True)
class ListChange:
    """How much the first k results of one query differ between two runs. jaccard, rbo: overlap, 0 to 1."""

    jaccard: float
    rbo: float
    is_same_order: bool
    is_same_set: bool


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
            sum(not change.is_same_order for change in changes) / count,
            sum(not change.is_same_set for change in changes) / count,
        )


def compared_depth(a: Run, b: Run) -> int:
    """Returns how many results of two runs are compared: the smaller of their depths."""
    return min(int(a.config["depth"]), int(b.config["depth"]))


def compare_lists(before: Sequence[str], after: Sequence[str], k: int) -> ListChange:
    """Compares the first k document ids of two result lists, which may contain repeats."""
    before, after = unique(before[:k]), unique(after[:k])
    movements = count_movements(before, after, k)
    return ListChange(jaccard(before, after), rbo(before, after), movements.is_same_order, movements.is_same_set)


def unique(doc_ids: Sequence[str]) -> list[str]:
    """Returns the ids without repeats, each at its best rank."""
    return list(dict.fromkeys(doc_ids))


def compare_result_lists(a: Run, b: Run) -> ListOverlap:
    """Compares the result lists of run `b` with those of run `a`, down to the smaller of their depths."""
    k = compared_depth(a, b)
    return ListOverlap.summarize(k, [compare_lists(before, after, k) for before, after in _read_pairs(a, b)])


def _read_pairs(a: Run, b: Run) -> Iterator[tuple[list[str], list[str]]]:
    """Yields the document ids of both runs for each query that both cases have and both runs searched."""
    shared = CaseQuery.objects.filter(case=a.case_id).present().values_list("query_id", flat=True)
    query_ids = sorted(shared.filter(query__in=CaseQuery.objects.filter(case=b.case_id).present().values("query_id")))
    for start in range(0, len(query_ids), BATCH):
        batch = query_ids[start : start + BATCH]
        lists_of_a, lists_of_b = (read_lists(run, batch) for run in (a, b))
        for query_id in batch:
            if query_id in lists_of_a and query_id in lists_of_b:
                yield lists_of_a[query_id].doc_ids, lists_of_b[query_id].doc_ids


@dataclass(frozen=True, slots=True)
class ResultList:
    """The document ids of a ranking, and how long its search took."""

    doc_ids: list[str]
    took_ms: int | None


def read_lists(run: Run, query_ids: Sequence[int]) -> dict[int, ResultList]:
    """Returns `{query id: result list}` of the searches that did not fail. One SQL statement; ask for few queries at a time."""
    rankings = Ranking.objects.filter(run=run, query__in=query_ids, error_kind="")
    return {
        query_id: ResultList([hit[0] for hit in hits], took_ms)
        for query_id, hits, took_ms in rankings.values_list("query_id", "hits", "took_ms")
    }
