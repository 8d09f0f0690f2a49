"""What an opened query shows: its results in the run shown, its scores, and why they are what they are."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import F, QuerySet

from relevancy import runs, scores
from relevancy.models import Case, QueryScore, Ranking, Run, ScorerVersion, User, compiled, read_hits
from relevancy.wording import counted

from .score_explanations import ScoreExplanations

MAX_GRADE_BUTTONS = 11
NO_RESULTS = (
    "The engine returned no results for this query. "
    "It scores 0 if a relevant document is known, and has no score otherwise."
)


@dataclass(frozen=True)
class VersionScore:
    """The score of a query under one of the case's scorers; `score` is None if it has not been computed.

    is_stale: whether ratings have changed since it was computed; it is being computed again in the background.
    """

    version: ScorerVersion
    score: QueryScore | None
    is_stale: bool = False


class QueryDetail:
    """An opened query. The rankings are read at once, every other part when a page first draws it.

    ranking: what the run returned for it; None if it was not searched, with `error_kind` if the search failed.
    previous_run: the run that ranks are compared with; None if there is none.
    """

    def __init__(
        self,
        case: Case,
        query_id: int,
        user: User,
        *,
        run: Run | None,
        previous_run: Run | None,
        versions: Sequence[ScorerVersion],
        can_search: bool,
        is_blind: bool = False,
        ratings: scores.QueryRatings | None = None,
        rankings: Mapping[int, Ranking] | None = None,
    ) -> None:
        """can_search: the user may send requests to its engine. is_blind: the user must not see grades of others before judging.
        ratings, rankings: of the query, if they have been read; see `read_rankings`."""
        if rankings is None:
            rankings = read_rankings((run, previous_run), query_id)
        self.ranking = rankings.get(run.pk) if run else None
        previous = rankings.get(previous_run.pk) if previous_run else None
        self._previous = previous if previous and not previous.error_kind else None
        self.previous_run = previous_run if self._previous else None
        if ratings is not None:
            self.ratings = ratings
        self.is_blind = is_blind
        self._case = case
        self._query_id = query_id
        self._user = user
        self._run = run
        self._versions = versions
        self._can_search = can_search

    @cached_property
    def ratings(self) -> scores.QueryRatings:
        """The ratings of the query."""
        return scores.QueryRatings.read(self._query_id)

    @cached_property
    def seen(self) -> scores.QueryRatings:
        """The ratings that the user may see."""
        return self.ratings.blind_for(self._user) if self.is_blind else self.ratings

    @property
    def found(self) -> Ranking | None:
        """The ranking if its search did not fail."""
        return None if self.ranking is None or self.ranking.error_kind else self.ranking

    @property
    def depth(self) -> int:
        """How many documents the run shows."""
        return int(self._run.config["depth"]) if self._run else 0

    @cached_property
    def results(self) -> Sequence[runs.Result]:
        """The documents shown, in rank order."""
        if self.found is None:
            return ()
        return runs.build_results(self.found, by=self._user, depth=self.depth, before=self._previous, ratings=self.seen)

    @cached_property
    def version_scores(self) -> Sequence[VersionScore]:
        """The score under each scorer of the case, the primary first."""
        if self.found is None:
            return ()
        by_version = {score.version_id: score for score in _scores(self.found.run_id, self.found.query_id)}
        listed = [(version, by_version.get(version.pk)) for version in self._versions]
        return [
            VersionScore(version, score, score is not None and score.revision < vars(score)["needed_revision"])
            for version, score in listed
        ]

    @cached_property
    def reasons(self) -> str:
        """Why the primary scorer's score is what it is, in a sentence."""
        if self.found is None or self.is_blind:
            return ""
        grades, book = self.ratings.grades(self._case.book), self._case.book
        return scores.give_reasons(self._versions[0], ranking=self.found, grades=grades, book=book, depth=self.depth)

    @cached_property
    def explanations(self) -> ScoreExplanations | None:
        """Why the results have their engine scores; None if there is no ranking."""
        if self.found is None:
            return None
        can_request = self._can_search and runs.abilities(self.found.run).explain
        return ScoreExplanations(self.found, self.results, can_request=can_request)

    @property
    def rule_text(self) -> str:
        """How the ratings of several raters become one grade."""
        return str(self._case.book.get_rule_display())

    @property
    def has_grade_buttons(self) -> bool:
        """Whether the scale is short enough for a button per grade."""
        return len(self._case.book.scale) <= MAX_GRADE_BUTTONS

    @property
    def state_text(self) -> str:
        """Why there are no results; empty if there are some, or if the search failed."""
        if self.ranking is not None:
            return "" if self.ranking.error_kind or self.results else NO_RESULTS
        if self._run is None:
            return "Nothing has been run yet. Run the attempt to see results."
        if self._run.is_active:
            return "Not searched yet: the run is still active."
        return f"Run {self._run.number} has no results for this query. Search again to see them."

    @property
    def error(self) -> str:
        """Why the search failed; empty if it did not."""
        return self.ranking.error if self.ranking and self.ranking.error_kind else ""

    @property
    def error_title(self) -> str:
        return f"The search failed ({self.ranking.error_kind}):" if self.ranking else ""

    @cached_property
    def unrated(self) -> int:
        """The number of documents shown that the user has not rated."""
        return sum([result.mine is None and not result.repeat for result in self.results])

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

    @property
    def unretrieved_count(self) -> int:
        """The number of rated documents that are not shown."""
        return runs.count_unretrieved(self.found, depth=self.depth, ratings=self.seen) if self.found else 0


def read_rankings(runs: Iterable[Run | None], query_id: int) -> dict[int, Ranking]:
    """Returns the rankings of a query in some runs, with their hits, by the id of the run. Two SQL statements, none
    without a run."""
    selected = {run.pk: run for run in runs if run is not None}
    if not selected:
        return {}
    rankings = {ranking.run_id: ranking for ranking in read_hits(_rankings(query_id, *selected))}
    for run_id, ranking in rankings.items():
        ranking.run = selected[run_id]
    return rankings


@compiled
def _rankings(query_id: int, *run_ids: int) -> QuerySet[Ranking]:
    return Ranking.objects.filter(run__in=run_ids, query=query_id)


@compiled
def _scores(run_id: int, query_id: int) -> QuerySet[QueryScore]:
    return QueryScore.objects.filter(run=run_id, query=query_id).annotate(needed_revision=F("query__revision"))
