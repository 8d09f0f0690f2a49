"""Rescores rankings after ratings have changed: one query at once, a whole run in batches."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction

from relevancy.models import CaseScore, QueryScore, Ranking, Run, ScorerVersion
from relevancy.scoring import Assessment

from .score_rankings import compute_scores, ranking_inputs, score_known, scoreable_versions
from .stale_scores import stale_rankings
from .storage import PAUSE_SECONDS, overwrite, score_case, store
from .switched_off import switch_on

BATCH = 500  # rankings rescored in one transaction, which must be short: ratings wait for it
_NEEDED_FIELDS = ("id", "query_id", "text", "options", "total", "hits", "error_kind", "run_id")


@dataclass
class RescoredQuery:
    """The scores of one query of a run after a rating.

    ranking: None if the run has none for the query.
    query_scores: by version id; without scripts, and without the versions that cannot score the run.
    case_scores: by version id; empty while the run is active.
    assessments: by version id, of measures; explain the scores.
    """

    run: Run
    ranking: Ranking | None
    versions: Sequence[ScorerVersion]
    query_scores: dict[int, QueryScore] = field(default_factory=dict)
    case_scores: dict[int, CaseScore] = field(default_factory=dict)
    assessments: dict[int, Assessment] = field(default_factory=dict)


class QueryRescorer:
    """Rescores one query of a run in the transaction that changes its ratings.

        rescorer = QueryRescorer(run, query.pk)  # reads what does not depend on ratings
        with transaction.atomic():
            ...  # changes ratings and increments the revision of the query, which locks it
            rescorer.score_by_measures(grades, revision)
        rescorer.rescored

    Scripts, which may take their time, are left to `rescore_run` in a worker; their scores are stale until then. The cost does
    not depend on the number of queries of the case, but for one SQL aggregate.
    """

    def __init__(
        self,
        run: Run,
        query_id: int,
        *,
        ranking: Ranking | None = None,
        versions: Iterable[ScorerVersion] | None = None,
    ) -> None:
        """`ranking` and `versions` of the case can be given if they have been read already."""
        if versions is None:
            versions = ScorerVersion.objects.used_by(run.case_id)
        if ranking is None:
            ranking = run.rankings.filter(query=query_id).first()
        self.rescored = RescoredQuery(run, ranking, list(versions))
        self._inputs = ranking_inputs([ranking] if ranking else [])
        self._measures = [version for version in self.rescored.versions if not version.script]

    def score_by_measures(self, grades: Mapping[str, float], revision: int) -> None:
        """Stores the scores of all measures. `grades` by document id, and the query's `revision` they belong to."""
        if not self._inputs or not self._measures:
            return
        query_id, run = self._inputs[0].query_id, self.rescored.run
        rows, assessments = score_known(
            run, self._inputs, self._measures, grades={query_id: grades}, revisions={query_id: revision}
        )
        self.rescored.assessments |= assessments
        overwrite(rows)
        self._add(rows, score_case(run, self._measures))

    def _add(self, query_scores: Iterable[QueryScore], case_scores: Iterable[CaseScore]) -> None:
        self.rescored.query_scores |= {row.version_id: row for row in query_scores}
        self.rescored.case_scores |= {row.version_id: row for row in case_scores}


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
