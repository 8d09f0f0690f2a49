"""What an opened query shows: its results in the run shown, its scores, and why they are what they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import F

from relevancy import runs, scores
from relevancy.models import Case, QueryScore, Ranking, Run, ScorerDefinition, ScorerVersion, User
from relevancy.wording import counted

from .score_explanations import ScoreExplanations

MAX_GRADE_BUTTONS = 11


@dataclass(frozen=True)
class VersionScore:
    """The score of a query under one of the case's scorers; `score` is None if it has not been computed.

    is_stale: whether ratings have changed since it was computed; it is being computed again in the background.
    """

    version: ScorerVersion
    score: QueryScore | None
    is_stale: bool = False


@dataclass(frozen=True)
class QueryDetail:
    """An opened query.

    ranking: what the run returned for it; None if it was not searched, with `error_kind` if the search failed.
    results: the documents shown, in rank order.
    depth: how many documents the run shows.
    previous_run: the run that ranks are compared with; None if there is none.
    version_scores: the score under each scorer of the case, the primary first.
    explanation: why the primary scorer's score is what it is, in a sentence.
    state_text: why there are no results; empty if there are some.
    has_grade_buttons: whether the scale is short enough for a button per grade.
    explanations: why the results have their engine scores; None if there is no ranking.
    rule_text: how the ratings of several raters become one grade.
    """

    ranking: Ranking | None = None
    results: Sequence[runs.Result] = ()
    depth: int = 0
    previous_run: Run | None = None
    version_scores: Sequence[VersionScore] = ()
    explanation: str = ""
    state_text: str = ""
    has_grade_buttons: bool = True
    explanations: ScoreExplanations | None = None
    rule_text: str = ""
    ratings: scores.QueryRatings | None = None

    @property
    def error(self) -> str:
        """Why the search failed; empty if it did not."""
        return self.ranking.error if self.ranking and self.ranking.error_kind else ""

    @property
    def error_title(self) -> str:
        return f"The search failed ({self.ranking.error_kind}):" if self.ranking else ""

    @property
    def unrated(self) -> int:
        """The number of documents shown that the user has not rated."""
        return sum(result.mine is None and not result.repeat for result in self.results)

    @property
    def repeats(self) -> int:
        """The number of documents that were returned a second time."""
        return sum(result.repeat for result in self.results)

    @property
    def repeats_title(self) -> str:
        return f"{self.repeats} document{' was' if self.repeats == 1 else 's were'} returned twice."

    @property
    def repeats_text(self) -> str:
        return "A document counts at its first rank. The repeat keeps its rank, but gains nothing."

    @property
    def cutoff_text(self) -> str:
        """Returns how many results are shown, and how many more the engine counted."""
        if self.ranking is None:
            return ""
        hits = self.ranking.returned if self.ranking.total is None else self.ranking.total
        more = hits - len(self.results)
        if more > 0:
            return f"Shown to rank {self.depth} · {counted(more, 'more result')}"
        return "The only result" if len(self.results) == 1 else f"All {len(self.results)} results"

    @cached_property
    def unretrieved_count(self) -> int:
        """The number of rated documents that are not shown."""
        if self.ranking is None or self.ranking.error_kind:
            return 0
        return runs.count_unretrieved(self.ranking, depth=self.depth, ratings=self.ratings)


def query_detail(
    case: Case,
    query_id: int,
    *,
    user: User,
    can_search: bool,
    run: Run | None,
    previous_run: Run | None,
    versions: Sequence[ScorerVersion],
    ratings: scores.QueryRatings | None = None,
) -> QueryDetail:
    """Returns what an opened query shows of a run.

    can_search: the user may send requests to its engine. ratings: of the query, if they have been read.
    """
    has_grade_buttons = len(case.book.scale) <= MAX_GRADE_BUTTONS
    ranking, previous = read_rankings(run, previous_run, query_id)
    if run is None or ranking is None:
        return QueryDetail(state_text=_why_no_ranking(run))
    ranking.run = run
    if ranking.error_kind:
        return QueryDetail(ranking=ranking)
    depth = run.config["depth"]
    ratings = ratings or scores.QueryRatings.read(query_id)
    results = runs.build_results(ranking, by=user, depth=depth, before=previous, ratings=ratings)
    stored_scores = ranking.scores.filter(version__in=versions).annotate(current=F("query__revision"))
    stored = {score.version_id: score for score in stored_scores}
    return QueryDetail(
        ranking=ranking,
        results=results,
        depth=depth,
        previous_run=previous_run if previous else None,
        version_scores=[_version_score(version, stored.get(version.pk)) for version in versions],
        explanation=_explanation(case, ranking, versions[0], ratings),
        state_text="" if results else NO_RESULTS,
        has_grade_buttons=has_grade_buttons,
        explanations=ScoreExplanations(ranking, results, can_request=can_search and runs.can_explain(ranking)),
        rule_text=case.book.get_rule_display(),
        ratings=ratings,
    )


NO_RESULTS = (
    "The engine returned no results for this query. "
    "It scores 0 if a relevant document is known, and has no score otherwise."
)


def _version_score(version: ScorerVersion, score: QueryScore | None) -> VersionScore:
    is_stale = score is not None and score.revision < vars(score)["current"]
    return VersionScore(version, score, is_stale)


def _why_no_ranking(run: Run | None) -> str:
    if run is None:
        return "Nothing has been run yet. Run the attempt to see results."
    if run.is_active:
        return "Not searched yet: the run is still active."
    return f"Run {run.number} has no results for this query. Search again to see them."


def read_rankings(run: Run | None, previous_run: Run | None, query_id: int) -> tuple[Ranking | None, Ranking | None]:
    """Returns the rankings of a query in the run shown and in the run before, the latter only if its search did not fail.

    One SQL statement.
    """
    selected = [selected_run for selected_run in (run, previous_run) if selected_run is not None]
    by_run = {ranking.run_id: ranking for ranking in Ranking.objects.filter(run__in=selected, query=query_id)}
    previous = by_run.get(previous_run.pk) if previous_run else None
    return by_run.get(run.pk) if run else None, previous if previous and not previous.error_kind else None


def _explanation(
    case: Case,
    ranking: Ranking,
    version: ScorerVersion,
    ratings: scores.QueryRatings,
) -> str:
    """Why a score is what it is. A script does not run for that; its working is shown on demand."""
    if not version.measure:
        return "Scored by a script. Its working shows the input and output of the script."
    if version in scores.missing_measures([version]):
        return f"The measure {version.measure} is not installed, so its score cannot be explained."
    return scores.explain_score(
        ScorerDefinition.of(version),
        ranking=ranking,
        grades=ratings.grades(case.book),
        book=case.book,
        depth=ranking.run.config["depth"],
    )
