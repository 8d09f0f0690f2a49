"""Comparisons of groups of cases, computed by a worker and kept until a comparison of one of the cases changes."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence

from django.db.models import Q
from django.utils import timezone

from relevancy.models import CaseGroup, Run, ScorerVersion, StoredComparison, StoredGroupComparison

from . import stored
from .comparisons import Comparison
from .groups import GroupComparison, combine_cases, dump_group, load_group

FORMAT = 2  # of the stored figures; part of their key
KEPT = 20  # of each group: people who see different cases need different ones
log = logging.getLogger("relevancy.comparison")


def find_or_create(
    *, group: CaseGroup, compared: Sequence[StoredComparison], weights: Sequence[float]
) -> StoredGroupComparison:
    """Returns the stored comparison of a group, whose figures may be missing.

    compared: the stored comparisons of its cases, all of them current. weights: of the cases.
    """
    inputs = [[each.pk, each.revision, each.generation, weight] for each, weight in zip(compared, weights, strict=True)]
    key = hashlib.sha256(json.dumps([FORMAT, inputs]).encode()).hexdigest()
    found: StoredGroupComparison = StoredGroupComparison.objects.get_or_create(
        group=group, key=key, defaults={"inputs": inputs}
    )[0]
    return found


def needs_computing(found: StoredGroupComparison) -> bool:
    """Returns whether the figures have to be computed."""
    return found.figures is None and not found.error


def queue(found: StoredGroupComparison) -> bool:
    """Marks the comparison as queued. Returns whether the caller has to enqueue the task; see `stored.queue`."""
    now = timezone.now()
    is_free = Q(queued_at=None) | Q(queued_at__lt=now - stored.REQUEUE_AFTER)
    return bool(StoredGroupComparison.objects.filter(is_free, pk=found.pk).update(queued_at=now))


def load(found: StoredGroupComparison) -> GroupComparison:
    """Returns the stored figures, which must be there."""
    assert found.figures is not None
    return load_group(found.figures)


def compute(comparison_id: int) -> None:
    """Computes and stores the figures of a group. May run twice.

    If a comparison of a case has changed meanwhile, the row is removed: the page asks for another one.
    """
    found = StoredGroupComparison.objects.filter(pk=comparison_id).first()
    if found is None:
        return
    try:
        comparisons = _read_inputs(found)
        if comparisons is None:
            found.delete()
            return
        found.figures = dump_group(combine_cases(comparisons, [weight for *_, weight in found.inputs]))
    except Exception:
        log.exception("The comparison of the group %s could not be computed.", found.group_id)
        found.error = stored.UNEXPECTED_ERROR
    found.computed_at = timezone.now()
    StoredGroupComparison.objects.filter(pk=found.pk).update(
        figures=found.figures, error=found.error, computed_at=found.computed_at, queued_at=None
    )
    newest = StoredGroupComparison.objects.filter(group=found.group_id).order_by("-pk")
    StoredGroupComparison.objects.filter(pk__in=list(newest.values_list("pk", flat=True)[KEPT : KEPT * 2])).delete()


def _read_inputs(found: StoredGroupComparison) -> list[Comparison] | None:
    """Returns the comparisons of the cases; None if one of them is not what it was."""
    comparisons = []
    for pk, revision, generation, _ in found.inputs:
        of_case = StoredComparison.objects.with_case_revision().filter(pk=pk, revision=revision, generation=generation)
        each = of_case.first()
        if each is None or not each.is_current:
            return None
        each.version = ScorerVersion.objects.select_related("scorer").get(pk=each.version_id)
        runs = list(Run.objects.filter(compared_runs__comparison=each).order_by("compared_runs__position"))
        comparisons.append(stored.load(each, runs, {}).comparison)
    return comparisons
