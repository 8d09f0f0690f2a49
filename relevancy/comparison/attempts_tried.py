"""How many attempts were compared with a baseline: of many comparisons, one looks significant by chance."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import OuterRef

from relevancy import hooks
from relevancy.models import ComparedRun, Run, ScorerVersion, comparison_revision
from relevancy.statistics import correct_holm


@dataclass(frozen=True)
class AttemptsTried:
    """count: attempts compared with the baseline, this one included. settings: others that apps tried to find them.
    p: corrected for all of them by Holm's method."""

    count: int
    settings: int
    p: float | None


def count_attempts_tried(baseline: Run, run: Run, version: ScorerVersion, p: float | None) -> AttemptsTried:
    """Returns how many attempts of the case have been compared with the baseline under a scorer version. One SQL statement, and those
    of optional apps.

    p: of the comparison of `run` with the baseline.

    Comparisons that are out of date, and settings that were never compared, count as if they had shown nothing, so that the corrected p
    is never too small.
    """
    rows = ComparedRun.objects.filter(
        position__gt=0,
        comparison__version=version,
        comparison__compared_runs__run=baseline,
        comparison__compared_runs__position=0,
    ).annotate(newest_revision=comparison_revision(OuterRef(OuterRef("comparison"))))
    smallest: dict[int, float] = {}
    for attempt_id, other_p, revision, newest in rows.values_list(
        "run__attempt_id", "p", "comparison__revision", "newest_revision"
    ):
        p_value = other_p if other_p is not None and revision == newest else 1.0
        smallest[attempt_id] = min(p_value, smallest.get(attempt_id, 1.0))
    others = [value for attempt_id, value in smallest.items() if attempt_id != run.attempt_id]
    settings = sum(hooks.settings_tried({run.attempt_id, *smallest}))
    corrected = None if p is None else correct_holm([p, *others, *[1.0] * settings])[0]
    return AttemptsTried(len(others) + 1, settings, corrected)
