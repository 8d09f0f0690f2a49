"""Trials: an edited attempt is searched for a few queries, next to what a run returned. Nothing is stored."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from relevancy import engines
from relevancy.endpoints import connect_for_page
from relevancy.models import Attempt, CaseQuery, Ranking, Run, ScorerVersion, User, read_hits
from relevancy.scores import QueryRatings, compute_scores

from .access import check_usable
from .chunks import build_ranking
from .depth import depth_of
from .requests import RequestBuilder, snapshot_config
from .results import Result, build_results

MAX_TRIED_QUERIES = 3
TRIAL_SECONDS = 30.0  # no request is sent later than this


@dataclass(frozen=True)
class Trial:
    """One query searched with an edited attempt.

    results: what the engine returned, with grades and with moves since the run; empty if the search failed.
    stored: what the run returned; empty if it did not search the query.
    error: why the search failed; empty if it did not.
    score, stored_score: under the scorer, 0–100, with the present ratings; None if there is none, and for scripts, which are not
        executed while a page waits.
    unrated: how many of `results` have no grade.
    """

    case_query: CaseQuery
    results: Sequence[Result]
    stored: Sequence[Result]
    error: str
    score: float | None
    stored_score: float | None
    unrated: int

    @property
    def difference(self) -> float | None:
        """The points gained over the run; None if one of the scores is missing."""
        if self.score is None or self.stored_score is None:
            return None
        return self.score - self.stored_score


def try_attempt(
    *, attempt: Attempt, case_queries: Sequence[CaseQuery], run: Run | None, version: ScorerVersion, by: User
) -> list[Trial]:
    """Searches an attempt, which need not be stored, for at most `MAX_TRIED_QUERIES` queries of its case. Stores nothing.

    run: what the results are compared with; None if nothing was run yet. version: of the scorer.

    Queries the engine while a page waits. Raises `RunNotAllowed` if `by` may not use the endpoint in the case, `EngineError` for
    an invalid template or address, and `Busy`. A search that fails is an error of its trial.
    """
    selected = list(case_queries[:MAX_TRIED_QUERIES])
    check_usable(case=attempt.case, endpoint=attempt.endpoint, by=by)
    config = snapshot_config(attempt)
    unsaved_run = Run(case=attempt.case, attempt=attempt, config=config, rows=depth_of(attempt.case, attempt.depth))
    requests = RequestBuilder(config, unsaved_run.rows).requests(selected)
    too_slow = engines.TooSlow(f"The engine did not respond to the queries before this one within {TRIAL_SECONDS:g} s.")
    outcomes: dict[int, engines.Page | engines.EngineError] = dict.fromkeys(range(len(selected)), too_slow)
    deadline = time.monotonic() + TRIAL_SECONDS
    with connect_for_page(attempt.endpoint) as engine:
        outcomes.update(engine.search_many(requests, stop=lambda: time.monotonic() > deadline))
    stored = {ranking.query_id: ranking for ranking in _stored_rankings(run, selected)}
    return [
        _trial(unsaved_run, case_query, outcomes[index], stored.get(case_query.query_id), version, by)
        for index, case_query in enumerate(selected)
    ]


def _stored_rankings(run: Run | None, case_queries: Sequence[CaseQuery]) -> list[Ranking]:
    if run is None:
        return []
    wanted = [case_query.query_id for case_query in case_queries]
    rankings = read_hits(list(run.rankings.filter(query__in=wanted, error_kind="")))
    for ranking in rankings:
        ranking.run = run
    return rankings


def _trial(
    run: Run,
    case_query: CaseQuery,
    outcome: engines.Page | engines.EngineError,
    stored: Ranking | None,
    version: ScorerVersion,
    by: User,
) -> Trial:
    ratings = QueryRatings.read(case_query.query_id)
    before = (
        build_results(stored, by=by, depth=stored.run.config["depth"], ratings=ratings) if stored is not None else []
    )
    stored_score = _score(stored, version) if stored is not None else None
    ranking = build_ranking(run, case_query, outcome)
    if ranking.error_kind:
        return Trial(case_query, [], before, ranking.error, None, stored_score, 0)
    results = build_results(ranking, by=by, depth=run.config["depth"], before=stored, ratings=ratings)
    return Trial(
        case_query,
        results,
        before,
        "",
        _score(ranking, version),
        stored_score,
        sum(result.grade is None and not result.repeat for result in results),
    )


def _score(ranking: Ranking, version: ScorerVersion) -> float | None:
    """Returns the score of a ranking, stored or not, with the present ratings; None for scripts, and if it has none."""
    if version.script:
        return None
    scores = compute_scores(ranking.run, [ranking], [version])
    return scores[0].score if scores else None
