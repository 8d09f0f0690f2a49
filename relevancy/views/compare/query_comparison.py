"""An opened query of a comparison: both result lists side by side, and every document of them with its rating."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import F

from relevancy import comparison, runs, scores
from relevancy.models import CaseQuery, QueryScore, Ranking, Run, ScorerVersion, User

ROW_HEIGHT = 32  # of a result, in pixels; the links between the lists are drawn by it


@dataclass(frozen=True)
class SideResult:
    """A result in one of the lists. move: "same", "up", "down", "new" or "gone"; ranks: by how many."""

    result: runs.Result
    move: str
    ranks: int


@dataclass(frozen=True)
class Side:
    """A run's results for the query.

    name: of the run, with its case if the other run belongs to another one.
    score: None if the query has none in the run. is_stale: whether it is older than the ratings.
    error: why the search failed, or why there are no results; empty if there are some.
    """

    run: Run
    name: str
    results: Sequence[SideResult]
    score: QueryScore | None
    is_stale: bool
    error: str


@dataclass(frozen=True)
class RankLink:
    """A line from a rank in the first list to one in the second. kind: as `SideResult.move`."""

    path: str
    kind: str


@dataclass(frozen=True)
class ComparedDocument:
    """A document of either list. result: as the second run returned it, or the first one if only that did."""

    result: runs.Result
    rank_a: int | None
    rank_b: int | None


@dataclass(frozen=True)
class QueryComparison:
    """An opened query.

    difference: points; None unless the query has current scores in both runs.
    links_height: of the drawing between the lists.
    url: of the page with this query open.
    rate_url: where ratings are posted to.
    """

    case_query: CaseQuery
    a: Side
    b: Side
    difference: float | None
    documents: Sequence[ComparedDocument]
    links: Sequence[RankLink]
    links_height: int
    url: str = ""
    rate_url: str = ""

    @property
    def is_stale(self) -> bool:
        """Whether a score of either run is older than the ratings."""
        return self.a.is_stale or self.b.is_stale

    @property
    def movement_text(self) -> str:
        """Returns how many documents came in, left and moved."""
        moves = [result.move for result in self.b.results]
        gone = sum(result.move == "gone" for result in self.a.results)
        return f"{moves.count('new')} in, {gone} out, {moves.count('up') + moves.count('down')} moved"


def compare_query(
    case_query: CaseQuery,
    compared_runs: Sequence[Run],
    version: ScorerVersion,
    user: User,
    *,
    url: str,
    rate_url: str,
) -> QueryComparison:
    """Returns an opened query in two runs. Three SQL statements."""
    found = {ranking.run_id: ranking for ranking in case_query.query.rankings.filter(run__in=compared_runs)}
    stored = QueryScore.objects.filter(run__in=compared_runs, version=version, query=case_query.query_id)
    query_scores = {score.run_id: score for score in stored.annotate(newest_revision=F("query__revision"))}
    ratings = scores.QueryRatings.read(case_query.query_id)
    results: list[list[runs.Result]] = []
    for run in compared_runs:
        ranking = found.get(run.pk)
        if ranking is not None:
            ranking.run = run
        depth = int(run.config["depth"])
        listed = []
        if ranking is not None and not ranking.error_kind:
            listed = runs.build_results(ranking, by=user, depth=depth, ratings=ratings)
        results.append(listed)
    ranks = [_ranks(side) for side in results]
    sides = [
        _side(run, name, found.get(run.pk), query_scores.get(run.pk), listed, other, is_after=is_after)
        for run, name, listed, other, is_after in zip(
            compared_runs, comparison.name_runs(compared_runs), results, reversed(ranks), (False, True), strict=True
        )
    ]
    return QueryComparison(
        case_query,
        a=sides[0],
        b=sides[1],
        difference=_difference(sides[0], sides[1]),
        documents=_documents(results[0], results[1]),
        links=_links(sides[1], ranks[0]),
        links_height=ROW_HEIGHT * max(1, *map(len, results)),
        url=url,
        rate_url=rate_url,
    )


def _ranks(results: Sequence[runs.Result]) -> dict[str, int]:
    """Returns the best rank of each document."""
    return {result.doc_id: result.rank for result in reversed(results)}


def _side(
    run: Run,
    name: str,
    ranking: Ranking | None,
    score: QueryScore | None,
    results: Sequence[runs.Result],
    other: dict[str, int],
    *,
    is_after: bool,
) -> Side:
    """`other`: ranks in the other run, which is the earlier one if `is_after`."""
    is_stale = score is not None and score.revision < vars(score)["newest_revision"]
    return Side(
        run,
        name,
        [_side_result(result, other, is_after=is_after) for result in results],
        score,
        is_stale,
        _why_empty(ranking),
    )


def _side_result(result: runs.Result, other: dict[str, int], *, is_after: bool) -> SideResult:
    rank = other.get(result.doc_id)
    if rank is None:
        return SideResult(result, "new" if is_after else "gone", 0)
    gained = rank - result.rank if is_after else 0
    return SideResult(result, "up" if gained > 0 else "down" if gained < 0 else "same", abs(gained))


def _why_empty(ranking: Ranking | None) -> str:
    if ranking is None:
        return "The run has no results for this query."
    if ranking.error_kind:
        return f"The search failed ({ranking.error_kind}): {ranking.error}"
    return "" if ranking.hits else "The engine returned no results."


def _difference(a: Side, b: Side) -> float | None:
    if a.is_stale or b.is_stale or a.score is None or b.score is None:
        return None
    return None if a.score.score is None or b.score.score is None else b.score.score - a.score.score


def _documents(before: Sequence[runs.Result], after: Sequence[runs.Result]) -> list[ComparedDocument]:
    """Returns the documents of both lists: those of the second in their order, then those that only the first one has."""
    ranks_before, ranks_after = _ranks(before), _ranks(after)
    documents = [
        ComparedDocument(result, ranks_before.get(result.doc_id), result.rank) for result in after if not result.repeat
    ]
    documents += [
        ComparedDocument(result, result.rank, None)
        for result in before
        if not result.repeat and result.doc_id not in ranks_after
    ]
    return documents


def _links(after: Side, ranks_before: dict[str, int]) -> list[RankLink]:
    links = []
    for listed in after.results:
        end = _middle(listed.result.rank)
        start_rank = ranks_before.get(listed.result.doc_id)
        if listed.result.repeat:
            continue
        if start_rank is None:
            links.append(RankLink(f"M44 {end} H70", "new"))
        else:
            start = _middle(start_rank)
            links.append(RankLink(f"M2 {start} C36 {start} 36 {end} 70 {end}", listed.move))
    return links


def _middle(rank: int) -> float:
    return ROW_HEIGHT * (rank - 0.5)
