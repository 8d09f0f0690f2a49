"""Rescores rankings after ratings have changed: one query at once, a whole run in batches."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from django.db import transaction
from django.db.models import OuterRef, QuerySet

from relevancy.models import Book, Case, CaseScore, QueryScore, Ranking, Run, ScorerVersion, case_revision
from relevancy.scoring import Assessment

from .case_update import CaseUpdate
from .comparison import RunDifference, baseline_of, store_comparison, stored_differences
from .history import MAX_POINTS, attempts_with_scores, compared_attempts
from .packages import missing_measures
from .score_rankings import compute_scores, ranking_inputs, score_known, scoreable_versions
from .stale_scores import stale_rankings
from .storage import PAUSE_SECONDS, overwrite, score_case, store
from .switched_off import switch_on

COMPARED_RUNS = 12  # whose difference to their baseline is stored: those that the recent activity can show
BATCH = 500  # rankings rescored in one transaction, which must be short: ratings wait for it
_NEEDED_FIELDS = ("id", "query_id", "text", "options", "total", "hits", "error_kind", "run_id")


@dataclass
class RescoredQuery:
    """The scores of one query of a run after a rating.

    ranking: None if the run has none for the query.
    query_scores: by version id; without scripts, and without the versions that cannot score the run.
    case_scores: by version id; empty while the run is active.
    assessments: by version id, of measures; explain the scores.
    baseline_score: of the query in the baseline, under the primary version; None without a baseline or if a script is primary.
    baseline_case_score: of the case in the baseline.
    difference: between the runs under the primary version; None where it was not computed.
    """

    run: Run
    ranking: Ranking | None
    versions: Sequence[ScorerVersion]
    baseline_score: QueryScore | None = None
    baseline_case_score: CaseScore | None = None
    difference: RunDifference | None = None
    query_scores: dict[int, QueryScore] = field(default_factory=dict)
    case_scores: dict[int, CaseScore] = field(default_factory=dict)
    assessments: dict[int, Assessment] = field(default_factory=dict)


class QueryRescorer:
    """Rescores one query of a run in the transaction that changes its ratings.

        rescorer = QueryRescorer(run, query.pk)  # reads what does not depend on ratings
        with transaction.atomic():
            ...  # changes ratings and increments the revision of the query, which locks it
            rescorer.score_by_measures(query.book, grades, revision, has_changed=True)
        rescorer.rescored

    Scripts, which may take their time, are left to `rescore_run` in a worker; their scores are stale until then. The cost does
    not depend on the number of queries of the case, unless other scores have been stored since the last rating.
    """

    def __init__(
        self,
        run: Run,
        query_id: int,
        *,
        ranking: Ranking | None = None,
        versions: Iterable[ScorerVersion] | None = None,
        baseline: Ranking | None = None,
    ) -> None:
        """`ranking` and `versions` of the case can be given if they have been read already.

        baseline: the ranking of the query in the run that `run` is compared with. Its score under the primary version is stored as
        well, so that the difference is right at once; all other runs follow in the background.
        """
        if versions is None:
            versions = ScorerVersion.objects.used_by(run.case_id)
        if ranking is None:
            ranking = run.rankings.filter(query=query_id).first()
        self.rescored = RescoredQuery(run, ranking, list(versions))
        self._inputs = ranking_inputs([ranking] if ranking else [])
        self._measures = [version for version in self.rescored.versions if not version.script]
        self._baseline = baseline
        self._baseline_inputs = ranking_inputs([baseline] if baseline and not self.rescored.versions[0].script else [])
        self._query_id = query_id

    def score_by_measures(
        self,
        book: Book,
        grades: Mapping[str, float],
        revision: int,
        *,
        has_changed: bool,
        sharing: Mapping[int, int] | None = None,
    ) -> None:
        """Stores the scores of all measures.

        grades: by document id. revision: that of the query, which they belong to. has_changed: whether it is a new one, and that
        of each case of the query as well. sharing: the new revisions of queries that share these ratings, by query id; they are
        scored too.
        """
        self.rescored.run.case.book = book
        rows: list[QueryScore] = []
        targets: list[tuple[Run, ScorerVersion]] = []
        run, grades_by_query, revisions = self.rescored.run, {self._query_id: grades}, {self._query_id: revision}
        if self._inputs and self._measures:
            query_scores, assessments = score_known(
                run, self._inputs, self._measures, grades=grades_by_query, revisions=revisions
            )
            self.rescored.assessments |= assessments
            self.rescored.query_scores |= {row.version_id: row for row in query_scores}
            rows += query_scores
        targets += [(run, version) for version in self._measures]
        if self._baseline_inputs and self._baseline:
            self._baseline.run.case.book = book
            baseline, primary = self._baseline.run, self.rescored.versions[0]
            (self.rescored.baseline_score,), _ = score_known(
                baseline, self._baseline_inputs, [primary], grades=grades_by_query, revisions=revisions
            )
            rows.append(self.rescored.baseline_score)
            targets.append((baseline, primary))
        if not rows:
            return
        for sharing_run in {run.pk: run for run, _ in targets}.values() if sharing else ():
            others = ranking_inputs(sharing_run.rankings.filter(query__in=list(sharing or ())))
            versions = [version for other, version in targets if other.pk == sharing_run.pk]
            same = dict.fromkeys(sharing or (), grades)
            rows += (
                score_known(sharing_run, others, versions, grades=same, revisions=sharing or {})[0] if others else []
            )
        baseline_run = self._baseline.run if self._baseline else None
        update = CaseUpdate(
            targets, self._query_id, baseline=baseline_run, has_changed=has_changed, is_only_query=not sharing
        )
        overwrite(rows)
        for row in update.store_case_scores(rows):
            if row.run_id == run.pk:
                self.rescored.case_scores[row.version_id] = row
            else:
                self.rescored.baseline_case_score = row
        primary = self.rescored.versions[0]
        both = self.rescored.case_scores.get(primary.pk), self.rescored.baseline_case_score
        if all(row is not None and row.revision is not None for row in both):
            self.rescored.difference = update.store_difference(run, primary, rows)


def rescore_query(run: Run, query_id: int) -> None:
    """Stores the scores of one query of a run, and of its case, after ratings have been stored."""
    versions = list(ScorerVersion.objects.used_by(run.case_id))
    rows = compute_scores(run, ranking_inputs(run.rankings.filter(query_id=query_id)), versions)
    with transaction.atomic(savepoint=False):
        store(rows)
        score_case(run, versions)


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
    pairs = [(run, baseline) for run in runs if (baseline := baseline_of(run)) is not None]
    pairs += compared_attempts(attempts_with_scores(case, primary))
    present = stored_differences(pairs, primary)
    for run, baseline in pairs:
        if (run.pk, baseline.pk) not in present:
            if time.monotonic() > deadline:
                return False
            store_comparison(run, baseline, primary)
    return True
