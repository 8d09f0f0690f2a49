"""Displayed fields of old runs are let go: they are most of what a run stores. Ids, engine scores and all scores stay.

The newest runs of a case keep their fields (setting RELEVANCY_KEEP_FIELDS_RUNS), and so do pinned ones. A run is marked
(`fields_dropped_at`) before its first ranking is stripped: whoever reads stripped hits can know it. Scripts may look at fields,
so their scores of a marked run stay as they are and are never made anew.
"""

import time
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from relevancy.models import Case, Ranking, Run, ScorerVersion

BATCH = 100  # rankings in one transaction, of which none may hold a rating up for long
PAUSE_SECONDS = 0.05  # between them: SQLite's waiting is unfair, and a rating must get its turn
AT_ONCE = 5  # runs in one task; what is left is found by the next
UNFINISHED = 3  # so many of the runs marked last are looked at, whether a worker died over them


def forgettable(case_id: int) -> bool:
    """Whether a case has runs whose fields are to be let go. Two statements."""
    return bool(_due(case_id).exists())


def forget_fields(case: Case) -> int:
    """Let the displayed fields of the case's old unpinned runs go, at most five runs at once. Returns how many rankings changed.

    May be stopped at any moment and done again: it goes on where it was.
    """
    changed = sum(_strip(run) for run in _unfinished(case.pk))
    for run in _due(case.pk).order_by("number")[:AT_ONCE]:
        # Somebody may pin it at this very moment: then it is left alone.
        if _due(case.pk).filter(pk=run.pk).update(fields_dropped_at=timezone.now()):
            changed += _strip(run)
    return changed


def _due(case_id: int) -> Any:
    """Runs older than those that keep their fields."""
    newest = Run.objects.newest_for(case_id).values_list("number", flat=True)
    kept = newest[settings.KEEP_FIELDS_RUNS - 1 : settings.KEEP_FIELDS_RUNS].first()
    if kept is None:
        return Run.objects.none()
    old = Run.objects.filter(case=case_id, number__lt=kept, pinned_at=None, fields_dropped_at=None)
    return old.exclude(status__in=Run.UNDER_WAY)


def _unfinished(case_id: int) -> list[Run]:
    """Marked runs that still have fields: rankings are stripped from the first to the last, so the last one tells."""
    marked = Run.objects.filter(case=case_id, pinned_at=None, fields_dropped_at__isnull=False)
    found = []
    for run in marked.order_by("-fields_dropped_at", "-number")[:UNFINISHED]:
        last = run.rankings.filter(returned__gt=0).order_by("-id").first()
        if last is not None and _has_fields(last):
            found.append(run)
    return found


def _strip(run: Run) -> int:
    """The run's hits without fields and snippets, in the order of their ids; a pin in between ends it."""
    done = changed = 0
    while True:
        with transaction.atomic():
            # A pin waits until this batch is written, and the next batch sees it.
            held = Run.objects.filter(pk=run.pk, pinned_at=None).select_for_update(no_key=True).values_list("pk")
            some = list(run.rankings.filter(pk__gt=done, returned__gt=0).order_by("id")[:BATCH]) if held else []
            rows = [row for row in some if _has_fields(row)]
            for row in rows:
                row.hits = [[hit[0], hit[1], {}] for hit in row.hits]
            Ranking.objects.bulk_update(rows, ["hits"])
        if not some:
            return changed
        done, changed = some[-1].pk, changed + len(rows)
        time.sleep(PAUSE_SECONDS)


def _has_fields(ranking: Ranking) -> bool:
    return any(hit[2] or len(hit) > 3 for hit in ranking.hits)


def scoreable(run: Run, versions: Sequence[ScorerVersion]) -> list[ScorerVersion]:
    """The versions a run can be scored under: all, but no scripts once its fields are gone. Asks the row, as it is now.

    To be called after the hits were read: a run is marked before it is stripped.
    """
    if not any(version.script for version in versions):
        return list(versions)
    if run.fields_dropped_at is None and Run.objects.filter(pk=run.pk, fields_dropped_at=None).exists():
        return list(versions)
    return [version for version in versions if not version.script]
