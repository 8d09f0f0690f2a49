"""Rescores rankings after ratings have changed: one query at once, a whole run in batches."""

import logging
import time
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models import OuterRef, QuerySet

from relevancy.models import Case, CaseScore, QueryScore, Ranking, Run, ScorerVersion, case_revision
from relevancy.models.write_queue import write_turn

from .comparison import baseline_of, store_comparison, stored_differences
from .history import MAX_POINTS, attempts_with_scores, compared_attempts
from .packages import missing_measures
from .ratings import QueryRatings
from .score_rankings import compute_scores, ranking_inputs, score_known, scoreable_versions
from .stale_scores import stale_rankings
from .storage import PAUSE_SECONDS, score_case, score_runs, store
from .switched_off import switch_on

# Queries of a case whose scores a page sums after ratings: 9 ms of CPU for two runs. A worker sums those of larger cases, within two
# seconds: with 5,000 queries, the pages of 20 raters would take 43 ms each time.
MAX_SUMMED = 1_000
COMPARED_RUNS = 12  # whose difference to their baseline is stored: those that the recent activity can show
BATCH = 500  # rankings rescored in one transaction, which must be short: ratings wait for it
_NEEDED_FIELDS = ("id", "query_id", "text", "options", "total", "hits", "error_kind", "run_id")
log = logging.getLogger("relevancy.scores")


def rescore_query(
    run: Run, query_id: int, *, versions: Iterable[ScorerVersion] = (), baseline: Run | None = None
) -> QueryRatings | None:
    """Stores the scores of one query of a run under all measures after ratings have been stored. Returns the ratings that they were
    computed from, for what shows them; None if the query has no results to score.

    versions: those of the case unless others are given. baseline: the run that `run` is compared with, which is scored under the
    first version as well. All other runs, and scripts, which may take their time, are left to a worker; the score of the case to
    `sum_outdated`. If the scores cannot be stored, that is logged.
    """
    versions = list(versions) or list(ScorerVersion.objects.used_by(run.case_id))
    targets = [(run, version) for version in versions if not version.script]
    if baseline is not None and not versions[0].script:
        targets.append((baseline, versions[0]))
    runs = {scored.pk: scored for scored, _ in targets}
    # With the revision of the query and the settings of its book, which are read before the ratings.
    rankings = list(Ranking.objects.filter(run__in=runs, query=query_id, error_kind="").select_related("query__book"))
    if not rankings:
        return None
    query = rankings[0].query
    ratings = QueryRatings.read(query_id)
    grades = {query_id: ratings.grades(query.book)}
    rows: list[QueryScore] = []
    for ranking in rankings:
        scored = runs[ranking.run_id]
        scored.case, scored.case.book = run.case, query.book
        own = [version for target, version in targets if target.pk == scored.pk]
        revisions = {query_id: query.revision}
        rows += score_known(scored, ranking_inputs([ranking]), own, grades=grades, revisions=revisions)
    try:
        with write_turn(), transaction.atomic():
            store(rows)
    except DatabaseError:
        log.exception("The scores of query %s could not be stored after a rating; they are stale now.", query_id)
    return ratings


def sum_outdated(targets: Sequence[tuple[Run, ScorerVersion]]) -> None:
    """Stores the scores of a case in some of its runs, each under a version, where the stored ones are older than the ratings. Those of
    runs with more than `MAX_SUMMED` queries are left to a worker."""
    small = [(run, version) for run, version in targets if run.queries <= MAX_SUMMED]
    current = _current_versions([run for run, _ in small]) if small else set()
    score_runs([(run, version) for run, version in small if (run.pk, version.pk) not in current])


def rescore_run(run: Run, versions: Iterable[ScorerVersion] = (), *, including_failed: bool = False) -> int:
    """Stores every score of the run that is missing or stale, and the scores of the case. Returns the number of rankings rescored.

    versions: those of the case unless others are given.
    including_failed: also rescores rankings that could not be scored, for example because a script ran out of time or was
        switched off.
    """
    versions = list(versions) or list(ScorerVersion.objects.used_by(run.case_id))
    if including_failed:
        switch_on(run, versions)
    versions_by_ranking: dict[int, set[int]] = {}
    for version in scoreable_versions(run, versions):
        for ranking_id in stale_rankings(run, version, including_failed=including_failed):
            versions_by_ranking.setdefault(ranking_id, set()).add(version.pk)
    ranking_ids = sorted(versions_by_ranking)
    written_at = 0.0
    for start in range(0, len(ranking_ids), BATCH):
        batch_ids = ranking_ids[start : start + BATCH]
        stale_versions = set[int]().union(*(versions_by_ranking[pk] for pk in batch_ids))
        rankings = ranking_inputs(run.rankings.filter(pk__in=batch_ids).only(*_NEEDED_FIELDS))
        rows = compute_scores(run, rankings, [version for version in versions if version.pk in stale_versions])
        time.sleep(max(0.0, PAUSE_SECONDS - (time.monotonic() - written_at)))
        with transaction.atomic():
            store(rows)
        written_at = time.monotonic()
    score_case(run, versions)
    return len(ranking_ids)


def rescore_case(case: Case, *, seconds: float) -> bool:
    """Stores every stale or missing score of the case's last finished runs, newest first, and the differences that pages list.

    Works for about `seconds`. Returns whether it has finished; otherwise, call it again. Pinned runs are rescored as well: their
    results stay as they are, but a score is only worth comparing if it is based on the same ratings as the others.
    """
    deadline = time.monotonic() + seconds
    versions = list(ScorerVersion.objects.used_by(case))
    runs = list(Run.objects.newest_for(case).finished().select_related("case__book")[:MAX_POINTS])
    current = _current_versions(runs)
    for run in runs:
        stale = [version for version in _scored(run, versions) if (run.pk, version.pk) not in current]
        if stale:
            if time.monotonic() > deadline:
                return False
            rescore_run(run, stale)
    return _store_comparisons(case, versions[0], runs[:COMPARED_RUNS], deadline)


def rescore_history(case: Case, *, seconds: float) -> bool:
    """Stores every stale or missing score of all finished runs of a case, newest first, and then the difference of each complete run
    to the one before it, under every scorer of the case.

    Works for about `seconds`. Returns whether it has finished; otherwise, call it again.
    """
    deadline = time.monotonic() + seconds
    versions = list(ScorerVersion.objects.used_by(case))
    missing = {version.pk for version in missing_measures(versions)}
    possible = [version for version in versions if version.pk not in missing]
    runs = list(Run.objects.newest_for(case).finished().only("fields_dropped_at", "status", "number"))
    current = _current_versions(Run.objects.filter(case=case).values("pk"))
    for run in runs:
        stale = [version for version in _scored(run, possible) if (run.pk, version.pk) not in current]
        if stale:
            if time.monotonic() > deadline:
                return False
            rescore_run(Run.objects.select_related("case__book").get(pk=run.pk), stale)
    complete = [run for run in runs if run.status == Run.Status.COMPLETE]
    pairs = list(pairwise(complete))
    for version in possible:
        present = stored_differences(pairs, version)
        for run, baseline in pairs:
            if (run.pk, baseline.pk) in present or not (_scored(run, [version]) and _scored(baseline, [version])):
                continue
            if time.monotonic() > deadline:
                return False
            run.case = baseline.case = case
            store_comparison(run, baseline, version)
    return True


def _scored(run: Run, versions: Sequence[ScorerVersion]) -> list[ScorerVersion]:
    """Returns the versions that can score a run: scripts cannot without its displayed fields."""
    return [version for version in versions if not (version.script and run.fields_dropped_at)]


def _current_versions(runs: Sequence[Run] | QuerySet[Any]) -> set[tuple[int, int]]:
    """Returns run id and version id of all current scores of the case in these runs."""
    rows = CaseScore.objects.filter(run__in=runs, revision=case_revision(OuterRef("run__case")))
    return set(rows.values_list("run_id", "version_id"))


def _store_comparisons(case: Case, primary: ScorerVersion, runs: Sequence[Run], deadline: float) -> bool:
    """Stores the differences of each of the runs to its baseline, and of attempts to their parents. Returns whether it has finished."""
    complete = [run for run in runs if run.status == Run.Status.COMPLETE]
    before = [
        next((other for other in complete if other.number < run.number), None) or baseline_of(run) for run in runs
    ]
    pairs = [(run, baseline) for run, baseline in zip(runs, before, strict=True) if baseline is not None]
    pairs += compared_attempts(attempts_with_scores(case, primary))
    present = stored_differences(pairs, primary)
    for run, baseline in pairs:
        if (run.pk, baseline.pk) not in present:
            if time.monotonic() > deadline:
                return False
            store_comparison(run, baseline, primary)
    return True
