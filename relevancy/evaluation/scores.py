"""Scores of rankings, stored: for queries and for the case."""

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Q, Sum, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from relevancy import scoring
from relevancy.models import Case, CaseScore, Query, QueryScore, Ranking, Run, ScorerVersion

from .grades import known_grades, scale_of

BATCH = 500
RESCORED_AT_ONCE = 250  # in one transaction, of which none may hold a rating up for long
PAUSE_SECONDS = 0.05  # between bulk writes: SQLite's waiting is unfair, and a rating must get its turn


@lru_cache(maxsize=500)
def measure_of(text: str) -> scoring.Measure:
    """The measure behind its name; read once."""
    return scoring.parse_measure(text)


def versions_of(case: Case) -> list[ScorerVersion]:
    """The newest version of each of the case's scorers, the primary first. One SQL statement."""
    newest: dict[int, ScorerVersion] = {}
    versions = ScorerVersion.objects.filter(scorer__case_scorers__case=case).annotate(
        place=F("scorer__case_scorers__position"), entry=F("scorer__case_scorers__id")
    )
    for version in versions.select_related("scorer").order_by("place", "entry", "-number"):
        newest.setdefault(version.scorer_id, version)
    return list(newest.values())


def depth_of(case: Case, shown: int) -> int:
    """How many hits a run has to fetch: as many as are shown, or as the deepest scorer looks at."""
    return max([shown, *(measure_of(version.measure).cutoff or 0 for version in versions_of(case))])


@dataclass(frozen=True)
class Ranked:
    """What scoring needs of a ranking."""

    ranking_id: int
    query_id: int
    doc_ids: list[str]


def ranked(rankings: Iterable[Ranking]) -> list[Ranked]:
    """Rankings without an error, as scoring sees them."""
    return [
        Ranked(ranking.pk, ranking.query_id, [hit[0] for hit in ranking.hits])
        for ranking in rankings
        if not ranking.error_kind
    ]


def score_rankings(run: Run, rankings: Sequence[Ranked], versions: Sequence[ScorerVersion]) -> None:
    """Score rankings of one run under each version and store the scores, overwriting older ones.

    The queries' revisions are read before their ratings: a rating that arrives between the two leaves a score that is
    stale, never one that is wrong and looks fresh.
    """
    if not rankings or not versions:
        return
    book = run.case.book
    query_ids = [item.query_id for item in rankings]
    lock_queries(query_ids)
    revisions = dict(Query.objects.filter(pk__in=query_ids).values_list("pk", "revision"))
    known = known_grades(book, query_ids)
    batch = scoring.Batch.build(
        [item.doc_ids for item in rankings], [known[item.query_id] for item in rankings], scale_of(book)
    )
    rows: list[QueryScore] = []
    for version in versions:
        scores = scoring.score(
            measure_of(version.measure),
            batch,
            shown=run.asked["depth"],
            zero_unscoreable=version.count_unscoreable_as_zero,
        )
        columns = (scores.value, scores.score, scores.low, scores.high, scores.unrated)
        for item, value, score, low, high, unrated in zip(rankings, *(c.tolist() for c in columns), strict=True):
            rows.append(
                QueryScore(
                    ranking_id=item.ranking_id,
                    run=run,
                    query_id=item.query_id,
                    version=version,
                    value=_stored(value),
                    score=_stored(score),
                    low=_stored(low),
                    high=_stored(high),
                    unrated=int(unrated),
                    revision=revisions[item.query_id],
                )
            )
    QueryScore.objects.bulk_create(
        rows,
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=("ranking", "version"),
        update_fields=("value", "score", "low", "high", "unrated", "revision"),
    )


def lock_queries(query_ids: Iterable[int]) -> None:
    """Hold back ratings of these queries until the transaction ends, so that no older score is written over a newer one.

    Everybody locks queries first, in order of their ids, and a run after them.
    """
    some = Query.objects.filter(pk__in=list(query_ids)).order_by("pk")
    list(some.select_for_update(no_key=True).values_list("pk", flat=True))


def _stored(value: float) -> float | None:
    return None if math.isnan(value) else value


def score_case(run: Run, versions: Iterable[ScorerVersion]) -> list[CaseScore]:
    """The case's score under each version from the stored scores of its present queries: one aggregate each, and one write.

    A run under way has no case score: a mean over what happens to be searched so far would look like one.
    """
    with transaction.atomic():
        # Of two ratings at one moment the second has to see the first one's score in its sum.
        held = Run.objects.filter(pk=run.pk).select_for_update(no_key=True)
        if held.values_list("status", flat=True).get() in Run.UNDER_WAY:
            return []
        return _score_case(run, versions)


def _score_case(run: Run, versions: Iterable[ScorerVersion]) -> list[CaseScore]:
    queries = run.case.case_queries.present().count()
    today = timezone.localdate()
    found = []
    for version in versions:
        weight = F("query__case_queries__weight")
        scored = Q(score__isnull=False)
        sums: dict[str, Any] = QueryScore.objects.filter(
            run=run, version=version, query__case_queries__case=run.case_id, query__case_queries__removed_at=None
        ).aggregate(
            weights=Sum(weight, filter=scored),
            scores=Sum(weight * F("score"), filter=scored),
            lows=Sum(weight * Coalesce("low", "score"), filter=scored),
            highs=Sum(weight * Coalesce("high", "score"), filter=scored),
            bounded=Count("low"),
            scored=Count("score"),
            unrated=Coalesce(Sum("unrated"), Value(0)),
        )
        weights = sums["weights"]
        fields = {
            "score": sums["scores"] / weights if weights else None,
            "low": sums["lows"] / weights if weights and sums["bounded"] else None,
            "high": sums["highs"] / weights if weights and sums["bounded"] else None,
            "scored": sums["scored"],
            "queries": queries,
            "unrated": sums["unrated"],
        }
        row, _ = CaseScore.objects.update_or_create(run=run, version=version, day=today, defaults=fields)
        found.append(row)
    return found


def rescore_query(run: Run, query_id: int) -> None:
    """After a rating: the query's scores in this run and the case's, at a cost that does not grow with the case."""
    versions = versions_of(run.case)
    with transaction.atomic():
        score_rankings(run, ranked(run.rankings.filter(query_id=query_id)), versions)
        score_case(run, versions)


def rescore_run(run: Run) -> int:
    """Every score of the run that is missing or stale, and the case's. Returns how many rankings were scored again."""
    versions = versions_of(run.case)
    todo = sorted(set().union(*(stale_rankings(run, version) for version in versions))) if versions else []
    for start in range(0, len(todo), RESCORED_AT_ONCE):
        if start:
            time.sleep(PAUSE_SECONDS)
        with transaction.atomic():
            rankings = run.rankings.filter(pk__in=todo[start : start + RESCORED_AT_ONCE])
            score_rankings(run, ranked(rankings.only("id", "query_id", "hits", "error_kind", "run_id")), versions)
    score_case(run, versions)
    return len(todo)


def stale_rankings(run: Run, version: ScorerVersion) -> list[int]:
    """Ids of the run's rankings whose score under this version is missing or older than the query's ratings."""
    fresh = QueryScore.objects.filter(run=run, version=version, revision__gte=F("query__revision"))
    return list(
        run.rankings.filter(error_kind="").exclude(pk__in=fresh.values("ranking_id")).values_list("pk", flat=True)
    )


def has_stale(run: Run, version: ScorerVersion) -> int:
    """How many scores of the run are older than their ratings or missing. Two counts."""
    stored = QueryScore.objects.filter(run=run, version=version).aggregate(
        every=Count("id"), stale=Count("id", filter=Q(revision__lt=F("query__revision")))
    )
    missing: int = run.rankings.filter(error_kind="").count() - stored["every"]
    return max(0, missing) + int(stored["stale"])
