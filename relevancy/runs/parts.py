"""The parts of a run: what each of its workers searches."""

from itertools import pairwise

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from relevancy.models import CaseQuery, Ranking, Run, RunPart

PART_QUERIES = 1_000


def unsearched_queries(run: Run) -> QuerySet[CaseQuery]:
    """Returns the case's present queries that have no ranking in the run, in their order."""
    rankings = Ranking.objects.filter(run=run, query=OuterRef("query"))
    case_queries: QuerySet[CaseQuery] = run.case.case_queries.present().filter(~Exists(rankings))
    return case_queries.select_related("query").order_by("position", "id")


def unsearched_of_part(run: Run, part: RunPart) -> list[CaseQuery]:
    """Returns what `unsearched_queries` does of the queries of a part. Two SQL statements.

    PostgreSQL may plan one statement as if a run that is being searched had no rankings, and then reads all of them for each query.
    """
    case_queries = list(_in_part(run, part).select_related("query").order_by("position", "id"))
    searched = _searched(run, [case_query.query_id for case_query in case_queries])
    return [case_query for case_query in case_queries if case_query.query_id not in searched]


def is_searched(run: Run, part: RunPart) -> bool:
    """Returns whether `unsearched_of_part` would return none. Two SQL statements, which read only ids."""
    query_ids = list(_in_part(run, part).values_list("query_id", flat=True))
    return _searched(run, query_ids).issuperset(query_ids)


def _in_part(run: Run, part: RunPart) -> QuerySet[CaseQuery]:
    case_queries: QuerySet[CaseQuery] = run.case.case_queries.present().filter(pk__range=(part.first, part.last))
    return case_queries


def _searched(run: Run, query_ids: list[int]) -> set[int]:
    return set(Ranking.objects.filter(run=run, query_id__among=query_ids).order_by().values_list("query_id", flat=True))


def count_searched(run: Run) -> tuple[int, int]:
    """Returns how many of the case's present queries the run has searched, and how many of these searches failed."""
    counts = run.rankings.filter(query__case_queries__case=run.case_id, query__case_queries__removed_at=None).aggregate(
        done=Count("id"), failed=Count("id", filter=~Q(error_kind=""))
    )
    return counts["done"], counts["failed"]


def cut(run: Run) -> None:
    """Divides the unsearched queries of a run into parts. Call it in the transaction that makes the run active.

    The parts are ranges of the ids of case queries, which do not change when queries are moved or edited. A run that has nothing to
    search gets an empty part, whose worker ends it.
    """
    case_queries = unsearched_queries(run).select_related(None).order_by("pk")
    numbered = case_queries.annotate(number=Window(RowNumber(), order_by="pk"), rest=(F("number") - 1) % PART_QUERIES)
    starts = list(numbered.filter(rest=0).values_list("pk", flat=True))
    end = (case_queries.aggregate(last=Max("pk"))["last"] or 0) + 1
    bounds = pairwise([*starts, end] if starts else [0, 1])
    RunPart.objects.bulk_create(RunPart(run=run, first=first, last=following - 1) for first, following in bounds)
