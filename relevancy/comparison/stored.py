"""Comparisons whose figures are computed by a worker, and kept until ratings, queries or results change.

See docs/decisions/0080.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from relevancy.models import CaseQuery, ComparedRun, Run, ScorerVersion, StoredComparison
from relevancy.models.errors import error_text

from .comparisons import check_runs, compare
from .figures import (
    FORMAT,
    ComparisonFigures,
    PairFigures,
    compute_figures,
    dump_figures,
    load_figures,
    load_first_pair,
)
from .large_figures import ONLY_FIGURES, LargeFigures, build_large, dump_large, has_large, load_large

KEPT_FIGURES = 50  # of each case; older ones are computed again when they are opened
REQUEUE_AFTER = timedelta(seconds=60)  # a task that has not begun by then may have been lost
MAX_PASSES = 3
UNEXPECTED_ERROR = (
    "The comparison could not be computed because of an unexpected error; the server log has the details."
)
log = logging.getLogger("relevancy.comparison")


def find_or_create(*, runs: Sequence[Run], version: ScorerVersion, with_figures: bool = True) -> StoredComparison:
    """Returns the stored comparison of runs, which belongs to the case of the first one, the baseline. Its figures may be missing or
    out of date. with_figures: whether they are read, too; otherwise the first use of them reads them.

    Raises ValidationError if the runs cannot be compared.
    """
    check_runs(runs)
    key = "-".join(map(str, [FORMAT, version.pk, *[run.pk for run in runs]]))
    stored = _find(key, with_figures=with_figures)
    if stored is None:
        with transaction.atomic():
            created, is_new = StoredComparison.objects.get_or_create(
                key=key, defaults={"case": runs[0].case, "version": version}
            )
            if is_new:
                ComparedRun.objects.bulk_create(
                    ComparedRun(comparison=created, run=run, position=position) for position, run in enumerate(runs)
                )
        stored = _find(key, with_figures=with_figures)
        assert stored is not None
    stored.case, stored.version = runs[0].case, version
    return stored


def _find(key: str, *, with_figures: bool) -> StoredComparison | None:
    comparisons = StoredComparison.objects.with_case_revision().filter(key=key)
    stored: StoredComparison | None = (comparisons if with_figures else comparisons.defer("figures")).first()
    return stored


def needs_computing(stored: StoredComparison, *, again: bool = False) -> bool:
    """Returns whether the figures have to be computed. `again`: also if that failed with the present ratings."""
    has_failed = bool(stored.error) and stored.revision == stored.case_revision
    return not stored.is_current and (again or not has_failed)


def queue(stored: StoredComparison) -> bool:
    """Marks the comparison as queued. Returns whether the caller has to enqueue the task: False if it is queued already.

    A mark that is older than a minute does not count, because the task may have been lost.
    """
    now = timezone.now()
    is_free = Q(queued_at=None) | Q(queued_at__lt=now - REQUEUE_AFTER)
    return bool(StoredComparison.objects.filter(is_free, pk=stored.pk).update(queued_at=now))


def load(stored: StoredComparison, runs: Sequence[Run], texts: Mapping[int, str] | None = None) -> ComparisonFigures:
    """Returns the stored figures, which must be there. texts: of the case's queries by id; read with one SQL statement if missing.

    Raises ValidationError for runs of large cases; see `find_large`."""
    assert stored.figures is not None
    if find_large(stored):
        raise ValidationError(ONLY_FIGURES)
    if texts is None:
        present = CaseQuery.objects.filter(case=stored.case_id).present()
        texts = dict(present.values_list("query_id", "query__text"))
    return load_figures(stored.figures, runs=runs, version=stored.version, texts=texts)


def find_large(stored: StoredComparison) -> LargeFigures | None:
    """Returns the stored figures of runs of large cases; None for other runs, and without figures."""
    figures = stored.figures
    return load_large(figures) if figures and figures.get("is_large") else None


def load_first_pairs(comparison_ids: Sequence[int]) -> dict[int, PairFigures]:
    """Returns the figures of the first run and the baseline by the id of the comparison; those without figures are absent. One SQL
    statement, in which the database reads the few numbers: the figures of all queries may be large."""
    computed = StoredComparison.objects.filter(pk__in=comparison_ids, figures__isnull=False)
    rows = computed.values_list("pk", "figures__pairs__0", "figures__means")
    return {pk: load_first_pair(pair, means) for pk, pair, means in rows}


def compute(comparison_id: int) -> None:
    """Computes and stores the figures of a stored comparison, or why they cannot be computed.

    May run twice, and at the same time. The revision of the case is read first: figures that a change overtakes are out of date at
    once, and never look current. Figures of former results of a run are not stored.
    """
    figures: dict[str, Any] | None
    p_values: Sequence[float | None]
    for _ in range(MAX_PASSES):
        stored = StoredComparison.objects.with_case_revision().defer("figures").filter(pk=comparison_id).first()
        if stored is None or stored.is_current:  # another worker may have computed it
            return
        compared = Run.objects.filter(compared_runs__comparison=stored).select_related("case__book")
        runs = list(compared.order_by("compared_runs__position"))
        try:
            version = ScorerVersion.objects.select_related("scorer").get(pk=stored.version_id)
            compared_runs = compare(runs=runs, version=version, heartbeat=partial(_keep_mark, comparison_id))
            p_values = [pair.paired.p for pair in compared_runs.pairs[: len(runs) - 1]]
            is_large, error = has_large(runs), ""
            figures = (
                dump_large(build_large(compared_runs)) if is_large else dump_figures(compute_figures(compared_runs))
            )
        except ValidationError as reason:
            figures, p_values, error = None, [], error_text(reason)
        except Exception:
            log.exception("The comparison %s could not be computed.", stored.key)
            figures, p_values, error = None, [], UNEXPECTED_ERROR
        if _store(stored, figures, p_values, error):
            _remove_old_figures(stored.case_id)
            return


def _keep_mark(comparison_id: int) -> None:
    """Lets nobody enqueue the task again while it computes what takes longer than a minute."""
    StoredComparison.objects.filter(pk=comparison_id).update(queued_at=timezone.now())


def _store(
    stored: StoredComparison, figures: dict[str, Any] | None, p_values: Sequence[float | None], error: str
) -> bool:
    """Returns False, and stores nothing, if the results of a run have changed since `stored` was read."""
    with transaction.atomic():
        unchanged = StoredComparison.objects.filter(pk=stored.pk, generation=stored.generation)
        is_stored = unchanged.update(
            figures=figures,
            revision=stored.case_revision,
            error=error,
            computed_at=timezone.now(),
            queued_at=None,
        )
        if is_stored:
            for position, p in enumerate(p_values, 1):
                stored.compared_runs.filter(position=position).update(p=p)
    return bool(is_stored)


def _remove_old_figures(case_id: int) -> None:
    """Removes the figures of all but the newest comparisons of a case; the comparisons stay."""
    computed = StoredComparison.objects.filter(case=case_id, figures__isnull=False).order_by("-computed_at", "-pk")
    old = list(computed.values_list("pk", flat=True)[KEPT_FIGURES : KEPT_FIGURES * 2])
    if old:
        StoredComparison.objects.filter(pk__in=old).update(figures=None, revision=None)
