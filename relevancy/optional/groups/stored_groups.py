"""Comparisons of groups of cases, computed by a worker and kept until a comparison of one of the cases changes.

See docs/decisions/0126.
"""

import hashlib
import json
import logging
from collections.abc import Sequence

from django.core.exceptions import ValidationError
from django.db.models import Q
from django.utils import timezone
from pydantic import TypeAdapter

from relevancy.comparison import Comparison, stored
from relevancy.models import Run, ScorerVersion, StoredComparison
from relevancy.models.errors import error_text

from .figures import GroupComparison, combine_cases
from .models import CaseGroup, StoredGroupComparison

FORMAT = 2  # of the stored figures; part of their key
KEPT = 20  # of each group: people who see different cases need different ones
FIGURES = TypeAdapter(GroupComparison)  # reads and writes the stored figures
log = logging.getLogger("relevancy.comparison")


def find_or_create(
    *, group: CaseGroup, compared: Sequence[StoredComparison], weights: Sequence[float]
) -> StoredGroupComparison:
    """Returns the stored comparison of a group, whose figures may be missing.

    compared: the stored comparisons of its cases, all of them current. weights: of the cases.
    """
    inputs = [
        [comparison.pk, comparison.revision, comparison.generation, weight]
        for comparison, weight in zip(compared, weights, strict=True)
    ]
    key = hashlib.sha256(json.dumps([FORMAT, inputs]).encode()).hexdigest()
    return StoredGroupComparison.objects.get_or_create(group=group, key=key, defaults={"inputs": inputs})[0]


def needs_computing(stored_group: StoredGroupComparison) -> bool:
    """Returns whether the figures have to be computed."""
    return stored_group.figures is None and not stored_group.error


def queue(stored_group: StoredGroupComparison) -> bool:
    """Marks the comparison as queued. Returns whether the caller has to enqueue the task; see `stored.queue`."""
    now = timezone.now()
    is_free = Q(queued_at=None) | Q(queued_at__lt=now - stored.REQUEUE_AFTER)
    return bool(StoredGroupComparison.objects.filter(is_free, pk=stored_group.pk).update(queued_at=now))


def compute(comparison_id: int) -> None:
    """Computes and stores the figures of a group. May run twice.

    If a comparison of a case has changed meanwhile, the row is removed: the page asks for another one.
    """
    stored_group = StoredGroupComparison.objects.filter(pk=comparison_id).first()
    if stored_group is None:
        return
    try:
        comparisons = _read_inputs(stored_group)
        if comparisons is None:
            stored_group.delete()
            return
        combined = combine_cases(comparisons, [weight for *_, weight in stored_group.inputs])
        stored_group.figures = FIGURES.dump_python(combined, mode="json")
    except ValidationError as reason:  # runs of large cases
        stored_group.error = error_text(reason)
    except Exception:
        log.exception("The comparison of the group %s could not be computed.", stored_group.group_id)
        stored_group.error = stored.UNEXPECTED_ERROR
    stored_group.computed_at = timezone.now()
    StoredGroupComparison.objects.filter(pk=stored_group.pk).update(
        figures=stored_group.figures, error=stored_group.error, computed_at=stored_group.computed_at, queued_at=None
    )
    newest = StoredGroupComparison.objects.filter(group=stored_group.group_id).order_by("-pk")
    StoredGroupComparison.objects.filter(pk__in=list(newest.values_list("pk", flat=True)[KEPT : KEPT * 2])).delete()


def _read_inputs(stored_group: StoredGroupComparison) -> list[Comparison] | None:
    """Returns the comparisons of the cases; None if one of them is not what it was."""
    comparisons = []
    for pk, revision, generation, _ in stored_group.inputs:
        same_revision = StoredComparison.objects.with_case_revision().filter(
            pk=pk, revision=revision, generation=generation
        )
        comparison = same_revision.first()
        if comparison is None or not comparison.is_current:
            return None
        comparison.version = ScorerVersion.objects.select_related("scorer").get(pk=comparison.version_id)
        runs = list(Run.objects.filter(compared_runs__comparison=comparison).order_by("compared_runs__position"))
        comparisons.append(stored.load(comparison, runs, {}).comparison)
    return comparisons
