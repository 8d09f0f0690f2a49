"""How much the result lists of two runs differ. No ratings needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from relevancy.models import CaseQuery, Ranking, Run
from relevancy.statistics import count_movements, jaccard, rbo

BATCH = 500  # rankings read at a time: their hits are large


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


def compare_result_lists(a: Run, b: Run) -> ListOverlap:
    """Compares the result lists of run `b` with those of run `a`, down to the smaller of their depths."""
    k = min(int(a.config["depth"]), int(b.config["depth"]))
    jaccards, overlaps, changed, changed_sets = [], [], 0, 0
    for before, after in _read_pairs(a, b, k):
        movements = count_movements(before, after, k)
        jaccards.append(jaccard(before, after))
        overlaps.append(rbo(before, after))
        changed += not movements.is_same_order
        changed_sets += not movements.is_same_set
    count = len(jaccards)
    if not count:
        return ListOverlap(k, 0, None, None, None, None)
    return ListOverlap(k, count, sum(jaccards) / count, sum(overlaps) / count, changed / count, changed_sets / count)


def _read_pairs(a: Run, b: Run, k: int) -> Iterator[tuple[list[str], list[str]]]:
    """Yields the first k document ids of both runs for each query that both cases have and both runs searched."""
    shared = CaseQuery.objects.filter(case=a.case_id).present().values_list("query_id", flat=True)
    query_ids = sorted(shared.filter(query__in=CaseQuery.objects.filter(case=b.case_id).present().values("query_id")))
    for start in range(0, len(query_ids), BATCH):
        batch = query_ids[start : start + BATCH]
        lists_of_a, lists_of_b = (_read_lists(run, batch, k) for run in (a, b))
        for query_id in batch:
            if query_id in lists_of_a and query_id in lists_of_b:
                yield lists_of_a[query_id], lists_of_b[query_id]


def _read_lists(run: Run, query_ids: Sequence[int], k: int) -> dict[int, list[str]]:
    rankings = Ranking.objects.filter(run=run, query__in=query_ids, error_kind="").values_list("query_id", "hits")
    return {query_id: list(dict.fromkeys(hit[0] for hit in hits[:k])) for query_id, hits in rankings}
