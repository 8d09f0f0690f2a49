"""Stale scores: missing ones, and those computed from older ratings. One query is rescored at once, runs in batches."""

import logging
import math
import random
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from itertools import batched, chain, pairwise

from django.db import DatabaseError, connection, transaction
from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, Subquery

from relevancy.models import (
    Case,
    CaseScore,
    Query,
    QueryScore,
    Ranking,
    Run,
    ScorerVersion,
    case_revision,
    read_doc_ids,
)
from relevancy.models.write_queue import write_pause, write_turn

from .comparison import scores_removed, store_comparison, stored_differences
from .definitions import missing_measures
from .grades import GradedQueries, QueryRatings
from .history import MAX_POINTS
from .score_rankings import score_known, scoreable_versions
from .scripts import count_stops
from .storage import lock_queries, score_runs, store

# Queries of a case whose scores a page sums after ratings: 9 ms of CPU for two runs. A worker sums those of larger cases, within two
# seconds: with 5,000 queries, the pages of 20 raters would take 43 ms each time.
MAX_SUMMED = 1_000
GROUPED_QUERIES = 10_000  # of runs that are rescored together: one statement sums their scores, and ratings wait for it
COMPARED_RUNS = 12  # whose difference to their baseline is stored: those that the recent activity can show
BATCH = 500  # rankings rescored in one transaction, which must be short: ratings wait for it
WINDOW = 20_000  # rankings whose stale scores are looked for at once: a million of them would be 300 MB
SCRIPT_BATCH = 50  # where scripts are run: they may be slow, and a deadline is only looked at between batches
log = logging.getLogger("relevancy.scores")


def count_stale(run: Run, *versions: ScorerVersion) -> int:
    """Returns how many scores of the run under these versions are missing or stale, and can be computed. Two SQL statements."""
    scoreable = scoreable_versions(run, versions)
    stored = QueryScore.objects.filter(run=run, version__in=scoreable).aggregate(
        total=Count("query"), stale=Count("query", filter=Q(revision__lt=F("query__revision")))
    )
    missing: int = run.rankings.filter(error_kind="").count() * len(scoreable) - stored["total"]
    return max(0, missing) + int(stored["stale"])


def rescore_query(query: Query, rankings: Iterable[Ranking], versions: Iterable[ScorerVersion]) -> QueryRatings:
    """Stores the scores of one query in some runs under all measures after ratings have been stored. Returns the ratings that they
    were computed from, for what shows them.

    query: with its revision and its book as they were read when it was rated. rankings: of the query in these runs. All other runs, and
    scripts, which may take their time, are left to a worker; the score of the case to `sum_outdated`. If the scores cannot be stored,
    that is logged.
    """
    ratings = QueryRatings.read(query.pk)
    graded = GradedQueries(query.book, {query.pk: ratings.grades(query.book)}, {query.pk: query.revision})
    measures = [version for version in versions if not version.script]
    rows: list[QueryScore] = []
    for ranking in read_doc_ids([ranking for ranking in rankings if not ranking.error_kind]):
        rows += score_known(ranking.run, [ranking], measures, graded)
    try:
        if rows:
            with write_turn(), transaction.atomic():
                store(rows)
    except DatabaseError:
        log.exception("The scores of query %s could not be stored after a rating; they are stale now.", query.pk)
    return ratings


def sum_outdated(targets: Sequence[tuple[Run, ScorerVersion]]) -> None:
    """Stores the scores of a case in some of its runs, each under a version, where the stored ones are older than the ratings. Those of
    runs with more than `MAX_SUMMED` queries are left to a worker."""
    score_runs(_outdated([(run, version) for run, version in targets if run.queries <= MAX_SUMMED]))


def forget_failed(run: Run, *, seconds: float) -> bool:
    """Removes the scores of the run that its scorers could not compute, for example because a script ran out of time or was switched
    off: they are missing then, and `continue_rescore` computes them.

    Works for about `seconds`. Returns whether it has finished; otherwise, call it again. What cannot be computed now keeps its error.
    """
    deadline, written_at = time.monotonic() + seconds, 0.0
    versions = scoreable_versions(run, ScorerVersion.objects.used_by(run.case_id))
    failed = QueryScore.objects.filter(run=run, version__in=versions).exclude(error="")
    query_ids = list(failed.order_by("query_id").values_list("query_id", flat=True).distinct())
    if query_ids:
        with transaction.atomic():
            scores_removed(run)
    for batch in batched(query_ids, BATCH):
        if written_at > deadline:
            return False
        write_pause(since=written_at)
        with transaction.atomic():
            lock_queries(batch)
            failed.filter(query__in=batch).delete()
        written_at = time.monotonic()
    return True


def rescore_run(run: Run, versions: Iterable[ScorerVersion] = ()) -> int:
    """Stores every score of the run that is missing or stale, and the scores of the case. Returns the number of rankings rescored.

    versions: those of the case unless others are given.
    """
    versions = list(versions) or list(ScorerVersion.objects.used_by(run.case_id))
    rescored, _ = _rescore_runs({run: versions})
    return rescored


def continue_rescore(run: Run, versions: Iterable[ScorerVersion] = (), *, seconds: float) -> bool:
    """Does what `rescore_run` does for about `seconds`. Returns whether it has finished; otherwise, call it again."""
    versions = list(versions) or list(ScorerVersion.objects.used_by(run.case_id))
    _, has_finished = _rescore_runs({run: versions}, deadline=time.monotonic() + seconds)
    return has_finished


def _rescore_runs(
    versions_by_run: Mapping[Run, Sequence[ScorerVersion]],
    *,
    deadline: float = math.inf,
) -> tuple[int, bool]:
    """Does what `rescore_run` does for several runs of one case, each under some versions, until the deadline. Returns the number of
    rankings that were to be rescored, and whether all of them have been; the scores of the case are stored at the end.

    What has been rescored is looked through again by the next call, and the deadline is put off as long as that has taken.
    """
    runs_by_version: dict[ScorerVersion, list[int]] = defaultdict(list)
    for run, versions in versions_by_run.items():
        for version in scoreable_versions(run, versions):
            runs_by_version[version].append(run.pk)
    begun, found = time.monotonic(), 0
    are_large = sum(run.queries for run in versions_by_run) > MAX_SUMMED
    for window in _windows(versions_by_run):
        stale = _find_stale(runs_by_version, window, are_large=are_large)
        if stale and not found:
            deadline += time.monotonic() - begun
        found += len(stale)
        if not _rescore_rankings(versions_by_run, stale, deadline):
            return found, False
    score_runs([(run, version) for run, versions in versions_by_run.items() for version in versions])
    return found, True


def _windows(runs: Iterable[Run]) -> Iterator[Q]:
    """Yields conditions that divide the rankings of runs into parts of at most `WINDOW`. One SQL statement if there are more.

    It begins with any of them, so that several workers that rescore the same runs do not do the same work.
    """
    runs = list(runs)
    if sum(run.queries for run in runs) <= WINDOW:
        yield Q()
        return
    # Sums, which no index has: PostgreSQL would read the rankings of all other runs until it finds the first of these.
    ends = Ranking.objects.filter(run__in=runs).aggregate(first=Min(F("pk") + 0), last=Max(F("pk") + 0))
    if ends["first"] is not None:
        starts = range(ends["first"], ends["last"] + 1, WINDOW)
        first = random.randrange(len(starts))
        for start in (*starts[first:], *starts[:first]):
            yield Q(pk__range=(start, start + WINDOW - 1))


def _find_stale(
    runs_by_version: Mapping[ScorerVersion, Sequence[int]], window: Q, *, are_large: bool
) -> dict[int, set[int]]:
    """Returns the ids of the versions under which rankings are to be scored, by the id of the ranking. One SQL statement for
    each version, and up to four more if the runs are large."""
    stale: dict[int, set[int]] = defaultdict(set)
    by_hash = are_large and connection.vendor == "postgresql"
    with _hash_joins() if by_hash else nullcontext():
        scores = QueryScore.objects.alias(query_revision=F("query__revision"))
        if by_hash and window:
            # Of these queries only: each window would read all scores of the runs, and all queries of the site.
            of_runs = Ranking.objects.filter(window, run__in=set(chain.from_iterable(runs_by_version.values())))
            query_ids = set(of_runs.order_by().values_list("query_id", flat=True))
            revision = Query.objects.filter(pk=OuterRef("query_id")).values("revision")
            scores = QueryScore.objects.filter(query_id__among=query_ids).alias(query_revision=Subquery(revision))
        for version, run_ids in runs_by_version.items():
            current = scores.filter(run__in=run_ids, version=version, revision__gte=F("query_revision"))
            is_current = Exists(current.filter(query=OuterRef("query"), run=OuterRef("run")))
            rankings = Ranking.objects.filter(~is_current, window, run__in=run_ids, error_kind="").order_by()
            for ranking_id in rankings.values_list("pk", flat=True):
                stale[ranking_id].add(version.pk)
    return stale


@contextmanager
def _hash_joins() -> Iterator[None]:
    """Makes PostgreSQL read each table once for a join.

    While its statistics do not know a new run, it takes the run's scores for one row, and read all of them again for each ranking:
    minutes for 60,000 queries. For a small run, reading all queries of the site once would take longer.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_nestloop = off")
        yield


def _rescore_rankings(
    versions_by_run: Mapping[Run, Sequence[ScorerVersion]], stale: Mapping[int, set[int]], deadline: float
) -> bool:
    """Scores rankings, each under some versions, until the deadline. Returns whether all of them have been."""
    book = next(iter(versions_by_run)).case.book
    written_at = 0.0
    stale_versions = set[int]().union(*stale.values())
    runs_scripts = any(
        version.script and version.pk in stale_versions for versions in versions_by_run.values() for version in versions
    )
    size = SCRIPT_BATCH if runs_scripts and deadline < math.inf else BATCH
    for ranking_ids in batched(sorted(stale), size):
        if written_at > deadline:
            return False
        batch = read_doc_ids(list(Ranking.objects.for_scoring().filter(pk__in=ranking_ids)))
        graded = GradedQueries.read(book, {ranking.query_id for ranking in batch})
        rows: list[QueryScore] = []
        for run, versions in versions_by_run.items():
            rankings_of_run = [ranking for ranking in batch if ranking.run_id == run.pk]
            needed = set[int]().union(*(stale[ranking.pk] for ranking in rankings_of_run))
            # Asked again: displayed fields may have been removed before the hits were read.
            possible = scoreable_versions(run, [version for version in versions if version.pk in needed])
            rows += score_known(run, rankings_of_run, possible, graded, stops=count_stops(run, possible))
        write_pause(since=written_at)
        with transaction.atomic():
            store(rows)
        written_at = time.monotonic()
    return True


def rescore_case(case: Case, *, seconds: float) -> bool:
    """Stores every stale or missing score of the case's last finished runs, newest first, and the differences that pages list: of each
    run to its baseline, and of the last run of an attempt to that of its parent.

    Works for about `seconds`. Returns whether it has finished; otherwise, call it again. Pinned runs are rescored as well: their
    results stay as they are, but a score is only worth comparing if it is based on the same ratings as the others.
    """
    deadline = time.monotonic() + seconds
    versions = list(ScorerVersion.objects.used_by(case))
    runs = list(Run.objects.newest_for(case).finished().select_related("attempt")[:MAX_POINTS])
    if not _rescore_outdated(case, runs, versions, deadline):
        return False
    complete = [run for run in runs if run.status == Run.Status.COMPLETE]
    baselines = [next((other for other in complete if other.number < run.number), None) for run in runs]
    pairs = [(run, baseline) for run, baseline in zip(runs, baselines, strict=True) if baseline][:COMPARED_RUNS]
    last_runs: dict[int, Run] = {}
    for run in [*complete, *runs]:
        last_runs.setdefault(run.attempt_id, run)
    pairs += [
        (run, last_runs[run.attempt.parent_id]) for run in last_runs.values() if run.attempt.parent_id in last_runs
    ]
    return _store_differences(pairs, versions[0], deadline)


def rescore_history(case: Case, *, seconds: float) -> bool:
    """Stores every stale or missing score of all finished runs of a case, newest first, and then the difference of each complete run
    to the one before it, under every scorer of the case.

    Works for about `seconds`. Returns whether it has finished; otherwise, call it again.
    """
    deadline = time.monotonic() + seconds
    versions = list(ScorerVersion.objects.used_by(case))
    missing = missing_measures(versions)
    possible = [version for version in versions if version not in missing]
    fields = "case", "fields_dropped_at", "status", "number", "queries"
    runs = list(Run.objects.newest_for(case).finished().only(*fields))
    complete = [run for run in runs if run.status == Run.Status.COMPLETE]
    pairs = list(pairwise(complete))
    return _rescore_outdated(case, runs, possible, deadline) and all(
        _store_differences(pairs, version, deadline) for version in possible
    )


def _rescore_outdated(case: Case, runs: Sequence[Run], versions: Sequence[ScorerVersion], deadline: float) -> bool:
    """Rescores the runs, newest first, whose scores of the case are not current. Returns whether it has finished."""
    for run in runs:
        run.case = case
    outdated: dict[Run, list[ScorerVersion]] = defaultdict(list)
    for run, version in _outdated([(run, version) for run in runs for version in versions if _can_score(run, version)]):
        outdated[run].append(version)
    size = max(1, GROUPED_QUERIES // max([run.queries for run in outdated], default=1))
    for group in batched(outdated.items(), size):
        if time.monotonic() > deadline:
            return False
        _, has_finished = _rescore_runs(dict(group), deadline=deadline)
        if not has_finished:
            return False
    return True


def _can_score(run: Run, version: ScorerVersion) -> bool:
    """Returns whether a version can score a run: scripts cannot without its displayed fields."""
    return not (version.script and run.fields_dropped_at)


def _outdated(targets: Sequence[tuple[Run, ScorerVersion]]) -> list[tuple[Run, ScorerVersion]]:
    """Returns the runs and versions whose score of the case is missing or not current. One SQL statement."""
    runs = {run.pk for run, _ in targets}
    rows = CaseScore.objects.filter(run__in=runs, revision=case_revision(OuterRef("run__case")))
    current = set(rows.values_list("run_id", "version_id"))
    return [(run, version) for run, version in targets if (run.pk, version.pk) not in current]


def has_outdated(targets: Sequence[tuple[Run, ScorerVersion]]) -> bool:
    """Returns whether one of the scores of a case, each in a run and under a version, is missing or older than the ratings. One SQL
    statement, whatever the size of the case."""
    return bool(_outdated([(run, version) for run, version in targets if _can_score(run, version)]))


def _store_differences(pairs: Sequence[tuple[Run, Run]], version: ScorerVersion, deadline: float) -> bool:
    """Stores the differences of runs to their baselines. Returns whether it has finished."""
    present = stored_differences(pairs, version)
    for run, baseline in pairs:
        if (run.pk, baseline.pk) in present or not (_can_score(run, version) and _can_score(baseline, version)):
            continue
        if time.monotonic() > deadline:
            return False
        store_comparison(run, baseline, version)
    return True
