"""Updates the scores of a case after a rating of one query by what has changed, instead of reading the scores of all queries.

See docs/decisions/0046.
"""

import json
from collections.abc import Sequence
from typing import Any

from django.db import connection

from relevancy.models import (
    CaseQuery,
    CaseRevision,
    CaseScore,
    QueryScore,
    Run,
    RunComparison,
    ScorerVersion,
)

from .comparison import COLUMNS, RunDifference, changed_difference, compare_runs, save_difference
from .storage import build_case_score, lock_runs, read_case_scores, save_case_scores
from .sums import StoredParts, Sums

type Target = tuple[Run, ScorerVersion]
type Key = tuple[int, int]


class CaseUpdate:
    """The scores of one case in some of its runs, each under a version, as one query changes.

        update = CaseUpdate(targets, query.pk, has_changed=True)  # reads what is stored
        overwrite(rows)
        update.store_case_scores(rows)

    Call all of it in the transaction that has locked the query. What is stored can be changed if it is exact for the revision that
    the case had before the rating; otherwise all scores are summed.
    """

    def __init__(
        self,
        targets: Sequence[Target],
        query_id: int,
        *,
        baseline: Run | None = None,
        has_changed: bool,
        is_only_query: bool = True,
    ) -> None:
        """One SQL statement, and a lock of the runs where the database has row locks.

        baseline: what the other runs of the targets are compared with.
        has_changed: whether the transaction has incremented the revisions of the query and of its cases.
        is_only_query: whether no other query has been scored in the transaction; otherwise all scores are summed.
        """
        self._targets = targets
        self._baseline = baseline
        self._has_changed = has_changed
        self._revision = 0
        self._weight: float | None = None
        self._statuses: dict[int, str] = {}
        self._old: dict[Key, StoredParts] = {}  # scores of the query
        self._sums: dict[Key, tuple[int, Sums]] = {}  # with the number of queries
        self._differences: dict[Key, RunDifference] = {}
        lock_runs(run.pk for run, _ in targets)
        self._read(query_id)
        if not is_only_query:
            self._sums.clear()
            self._differences.clear()

    def _read(self, query_id: int) -> None:
        run_ids = list({run.pk for run, _ in self._targets})
        version_ids = list({version.pk for _, version in self._targets})
        baseline_id = self._baseline.pk if self._baseline else 0
        statement = _STORED.format(runs=", ".join(["%s"] * len(run_ids)), versions=", ".join(["%s"] * len(version_ids)))
        with connection.cursor() as cursor:
            cursor.execute(statement, [*version_ids, query_id, query_id, baseline_id, *run_ids])
            rows = cursor.fetchall()
        for run_id, status, version_id, revision, weight, *columns in rows:
            self._statuses[run_id], self._revision, self._weight = status, revision, weight
            # The revision of a case changes with the ratings of its present queries only.
            before = revision - int(self._has_changed and weight is not None)
            self._read_row((run_id, version_id), before, columns)

    def _read_row(self, key: Key, before: int, columns: Sequence[Any]) -> None:
        score_id, *parts = columns[:6]
        if score_id is not None:
            self._old[key] = StoredParts(*parts)
        case_revision, queries, scored, unrated, failed, sums = columns[6:12]
        if case_revision == before and sums is not None:
            self._sums[key] = queries, Sums.read(json.loads(sums), scored=scored, unrated=unrated, failed=failed)
        revision, *_, sums = columns[12:]
        if self._baseline and revision == before and sums is not None:
            values: dict[str, Any] = dict(zip(COLUMNS, columns[12:], strict=True)) | {"sums": json.loads(sums)}
            self._differences[key] = RunDifference(self._baseline, **values)

    def _is_active(self, run: Run) -> bool:
        return self._statuses.get(run.pk, Run.Status.WAITING) in Run.ACTIVE_STATUSES

    def store_case_scores(self, rows: Sequence[QueryScore]) -> list[CaseScore]:
        """Stores the scores of the case with the new scores of the query, and returns them. Leaves out active runs; see
        `score_runs`. One SQL statement, two if all scores have to be read."""
        new = {(row.run_id, row.version_id): row for row in rows}
        case_scores, unknown = [], []
        for run, version in self._targets:
            if self._is_active(run):
                continue
            key = run.pk, version.pk
            changed = None
            if key in self._sums and (key in new or key not in self._old):
                queries, sums = self._sums[key]
                changed = sums.replacing(self._weight, self._old.get(key), new.get(key))
            if changed is None:
                unknown.append((run, version))
                continue
            case_scores.append(
                build_case_score(run, version, changed, queries=queries, case_revision=self._revision, is_exact=True)
            )
        return save_case_scores([*case_scores, *read_case_scores(unknown)])

    def store_difference(self, run: Run, version: ScorerVersion, rows: Sequence[QueryScore]) -> RunDifference | None:
        """Stores the difference between a run and the baseline, after the scores of the case, and returns it.

        None if one of them is active: then there is none. One SQL statement, two if all scores have to be read.
        """
        baseline = self._baseline
        if baseline is None or self._is_active(run) or self._is_active(baseline):
            return None
        keys = (run.pk, version.pk), (baseline.pk, version.pk)
        new = {(row.run_id, row.version_id): row.score for row in rows}
        stored, difference = self._differences.get(keys[0]), None
        if stored is not None and all(key in new or key not in self._old for key in keys):
            old = {key: parts.score for key, parts in self._old.items()}
            difference = changed_difference(
                stored,
                self._revision,
                self._weight,
                (old.get(keys[0]), old.get(keys[1])),
                (new.get(keys[0]), new.get(keys[1])),
            )
        if difference is None:
            difference = compare_runs(run, baseline, version)
        if not difference.pending:
            save_difference(run, version, difference)
        return difference


# One row per run and version, and per day of which sums are stored: the last one counts.
_STORED = f"""
    SELECT run.id, run.status, version.id, COALESCE(counter.revision, 0), case_query.weight,
        stored.id, stored.score, stored.low, stored.high, stored.unrated, stored.error,
        case_score.revision, case_score.queries, case_score.scored, case_score.unrated, case_score.failed, case_score.sums,
        {", ".join(f"comparison.{column}" for column in COLUMNS)}
    FROM {Run._meta.db_table} run
    JOIN {ScorerVersion._meta.db_table} version ON version.id IN ({{versions}})
    LEFT JOIN {CaseRevision._meta.db_table} counter ON counter.case_id = run.case_id
    LEFT JOIN {CaseQuery._meta.db_table} case_query
        ON case_query.case_id = run.case_id AND case_query.query_id = %s AND case_query.removed_at IS NULL
    LEFT JOIN {QueryScore._meta.db_table} stored
        ON stored.run_id = run.id AND stored.query_id = %s AND stored.version_id = version.id
    LEFT JOIN {CaseScore._meta.db_table} case_score
        ON case_score.run_id = run.id AND case_score.version_id = version.id AND case_score.sums IS NOT NULL
    LEFT JOIN {RunComparison._meta.db_table} comparison
        ON comparison.run_id = run.id AND comparison.version_id = version.id AND comparison.baseline_id = %s
    WHERE run.id IN ({{runs}})
    ORDER BY case_score.day
"""
