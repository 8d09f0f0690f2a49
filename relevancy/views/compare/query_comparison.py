"""An opened query of a comparison: both result lists side by side, and every document of them with its rating."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import F
from django.urls import reverse

from relevancy import comparison, runs, scores
from relevancy.models import CaseQuery, QueryScore, Ranking, Run, ScorerVersion, User, read_hits
from relevancy.views.aligned_lists import AlignedLists, align, best_ranks
from relevancy.views.workbench.access import CaseAccess


@dataclass(frozen=True)
class Side:
    """A run's results for the query.

    name: of the run, with its case if the other run belongs to another one.
    score: None if the query has none in the run. is_stale: whether it is older than the ratings.
    error: why the search failed, or why there are no results; empty if there are some.
    """

    name: str
    results: Sequence[runs.Result]
    score: QueryScore | None
    is_stale: bool
    error: str


@dataclass(frozen=True)
class ComparedDocument:
    """A document of either list. result: as the second run returned it, or the first one if only that did.

    why_url: of what makes the difference between its engine scores in both runs; empty unless it moved, and if the runs belong to
        different cases.
    """

    result: runs.Result
    rank_a: int | None
    rank_b: int | None
    why_url: str = ""


@dataclass(frozen=True)
class QueryComparison:
    """An opened query.

    lists: the results of both runs, aligned.
    difference: points; None unless the query has current scores in both runs.
    note: what the lists do not show, in a sentence.
    """

    case_query: CaseQuery
    a: Side
    b: Side
    lists: AlignedLists
    difference: float | None
    documents: Sequence[ComparedDocument]
    note: str = ""

    @classmethod
    def build(
        cls, case_query: CaseQuery, a: Side, b: Side, *, note: str = "", moved_url: str = ""
    ) -> "QueryComparison":
        """Returns a query with two sides. moved_url: of the page that explains why a document moved, without its id; may be empty."""
        difference = None
        if (
            a.score
            and b.score
            and a.score.score is not None
            and b.score.score is not None
            and not (a.is_stale or b.is_stale)
        ):
            difference = b.score.score - a.score.score
        return cls(
            case_query,
            a,
            b,
            lists=align((a.name, b.name), a.results, b.results, (a.error, b.error)),
            difference=difference,
            documents=_documents(a.results, b.results, moved_url),
            note=note,
        )

    @property
    def is_stale(self) -> bool:
        """Whether a score of either run is older than the ratings."""
        return self.a.is_stale or self.b.is_stale


def compare_query(
    case_query: CaseQuery, compared_runs: Sequence[Run], version: ScorerVersion, user: User, access: CaseAccess
) -> QueryComparison:
    """Returns an opened query in two runs. Three SQL statements, and one more for raters."""
    rankings = {
        ranking.run_id: ranking for ranking in read_hits(case_query.query.rankings.filter(run__in=compared_runs))
    }
    stored = QueryScore.objects.filter(run__in=compared_runs, version=version, query=case_query.query_id)
    query_scores = {score.run_id: score for score in stored.annotate(newest_revision=F("query__revision"))}
    ratings = access.read_ratings(case_query.query_id)
    names = comparison.name_runs(compared_runs)
    a, b = (
        build_side(run, name, rankings.get(run.pk), query_scores.get(run.pk), user, ratings)
        for run, name in zip(compared_runs, names, strict=True)
    )
    first, second = compared_runs
    moved_url = ""
    if first.case_id == second.case_id == case_query.case_id:
        moved_url = reverse(
            "query_explain_difference",
            args=[case_query.case_id, case_query.pk],
            query={"run": second.number, "other": f"run:{first.number}"},
        )
    return QueryComparison.build(case_query, a, b, moved_url=moved_url)


def build_side(
    run: Run, name: str, ranking: Ranking | None, score: QueryScore | None, user: User, ratings: scores.QueryRatings
) -> Side:
    """Returns the results of a run. score: with the annotation `newest_revision`. No SQL."""
    listed: list[runs.Result] = []
    if ranking is not None:
        ranking.run = run
        if not ranking.error_kind:
            listed = runs.build_results(ranking, by=user, depth=int(run.config["depth"]), ratings=ratings)
    is_stale = score is not None and score.revision < vars(score)["newest_revision"]
    return Side(name, listed, score, is_stale, _why_empty(ranking))


def _why_empty(ranking: Ranking | None) -> str:
    if ranking is None:
        return "The run has no results for this query."
    if ranking.error_kind:
        return f"The search failed ({ranking.error_kind}): {ranking.error}"
    return "" if ranking.returned else "The engine returned no results."


def _documents(before: Sequence[runs.Result], after: Sequence[runs.Result], moved_url: str) -> list[ComparedDocument]:
    """Returns the documents of both lists: those of the second in their order, then those that only the first one has."""
    ranks_before, ranks_after = best_ranks(before), best_ranks(after)
    ranked: list[tuple[runs.Result, int | None, int | None]] = [
        (result, ranks_before.get(result.doc_id), result.rank) for result in after if not result.repeat
    ]
    ranked += [
        (result, result.rank, None) for result in before if not result.repeat and result.doc_id not in ranks_after
    ]
    return [
        ComparedDocument(
            result,
            rank_a,
            rank_b,
            f"{moved_url}&{urlencode({'doc_id': result.doc_id})}" if moved_url and rank_a != rank_b else "",
        )
        for result, rank_a, rank_b in ranked
    ]
