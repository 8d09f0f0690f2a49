"""Removes what old runs display: documents, snippets and explanations are most of what a run stores. Ids, engine scores and all scores
stay.

The newest runs of a case (setting RELEVANCY_KEEP_FIELDS_RUNS) and pinned runs keep what they display; the others are marked
(`fields_dropped_at`). A version of a document that no other run displays loses its fields then. A marked run goes on displaying the
versions that others keep, but scripts, which may read fields, never score it again.

See docs/decisions/0015.
"""

from itertools import batched

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import Case as CaseExpression
from django.db.models import Max, Q, QuerySet, When
from django.utils import timezone

from relevancy.models import Case, Document, Ranking, Run, lock_documents, unpack_numbers
from relevancy.models.write_queue import write_pause

BATCH = 500  # rows changed in one transaction, which must be short: ratings wait for it
READ = 5_000  # rankings read at a time


def has_prunable_runs(case_id: int) -> bool:
    """Returns whether a case has runs that need not keep what they display. Two SQL statements."""
    return bool(_prunable_runs(case_id).exists())


def prune_display_fields(case: Case) -> int:
    """Removes what the case's old unpinned runs display and no other run does. Returns how many documents lost their fields.

    It can be interrupted at any time: the next call, for any case with the same endpoints, removes the rest.
    """
    _prunable_runs(case.pk).update(fields_dropped_at=timezone.now())
    marked = Run.objects.filter(case=case, fields_dropped_at__isnull=False)
    for run_id in marked.order_by("number").values_list("pk", flat=True):
        _remove_details(run_id)
    endpoints = marked.order_by().values_list("attempt__endpoint", flat=True).distinct()
    return sum(clean_documents(endpoint) for endpoint in endpoints)


def _prunable_runs(case_id: int) -> QuerySet[Run]:
    """Returns the runs older than those that keep what they display."""
    numbers = Run.objects.newest_for(case_id).values_list("number", flat=True)
    oldest_kept = numbers[settings.KEEP_FIELDS_RUNS - 1 : settings.KEEP_FIELDS_RUNS].first()
    if oldest_kept is None:
        return Run.objects.none()
    runs = Run.objects.filter(case=case_id, number__lt=oldest_kept, pinned_at=None, fields_dropped_at=None)
    return runs.exclude(status__in=Run.ACTIVE_STATUSES)


def _remove_details(run_id: int) -> None:
    """Removes the snippets and explanations of a run; stops if the run is pinned."""
    detailed = Ranking.objects.filter(run=run_id).exclude(snippets="", explanations="").order_by("pk")
    while True:
        with transaction.atomic():
            # Pinning waits until this batch is written; the next batch sees the pin.
            unpinned = Run.objects.filter(pk=run_id, pinned_at=None).select_for_update(no_key=True).values_list("pk")
            batch = list(detailed.values_list("pk", flat=True)[:BATCH]) if unpinned else []
            Ranking.objects.filter(pk__in=batch).update(snippets="", explanations="")
        if len(batch) < BATCH:
            return
        write_pause()


def clean_documents(endpoint: int) -> int:
    """Deletes the documents of an endpoint that no ranking has, and removes the fields of those that only marked runs have. Returns how
    many lost their fields.

    Reads the document numbers of all rankings of the endpoint: some seconds for a million. It can be interrupted at any time.
    """
    documents = Document.objects.filter(endpoint=endpoint).order_by("pk")
    uses = _DocumentUses(endpoint)
    unused = [pk for pk in documents.values_list("pk", flat=True).iterator() if not uses.is_used(pk)]
    for batch in batched(unused, BATCH):
        with transaction.atomic():
            uses.read_new()
            documents.filter(pk__in=[pk for pk in batch if not uses.is_used(pk)]).delete()
        write_pause()
    with_fields = documents.filter(fields__isnull=False).values_list("pk", flat=True)
    hidden = [pk for pk in with_fields.iterator() if not uses.is_displayed(pk)]
    stripped = 0
    for batch in batched(hidden, BATCH):
        with transaction.atomic():
            uses.read_new()
            still_hidden = documents.filter(pk__in=[pk for pk in batch if not uses.is_displayed(pk)])
            stripped += still_hidden.update(fields=None, digest=None)
        write_pause()
    return stripped


class _DocumentUses:
    """Which documents of an endpoint its rankings have, and which of them a run displays that keeps its fields.

    Documents that were added later than it was made count as displayed.
    """

    def __init__(self, endpoint: int) -> None:
        self._endpoint = endpoint
        self._rankings = Ranking.objects.filter(run__attempt__endpoint=endpoint)
        self._last_ranking = 0
        with transaction.atomic():
            # Nobody stores rankings now: all later ones have higher numbers than those that can be read.
            lock_documents(endpoint, exclusive=True)
            last_document = Document.objects.filter(endpoint=endpoint).aggregate(last=Max("pk"))["last"] or 0
            last_ranking = _last_ranking()
        self._used, self._displayed = np.zeros((2, last_document + 1), bool)
        self._read(last_ranking)

    def is_used(self, number: int) -> bool:
        return number >= len(self._used) or bool(self._used[number])

    def is_displayed(self, number: int) -> bool:
        return number >= len(self._displayed) or bool(self._displayed[number])

    def read_new(self) -> None:
        """Reads the rankings that were stored since. Nobody stores any until the transaction ends."""
        lock_documents(self._endpoint, exclusive=True)
        self._read(_last_ranking())

    def _read(self, last: int) -> None:
        """Reads the rankings up to the one with the number `last`."""
        keeps = Q(run__fields_dropped_at=None) | Q(run__pinned_at__isnull=False)
        new = self._rankings.filter(pk__gt=self._last_ranking, pk__lte=last, returned__gt=0).order_by("pk")
        marked = new.annotate(keeps=CaseExpression(When(keeps, then=True), default=False))
        rows = marked.values_list("keeps", "returned", "documents").iterator(chunk_size=READ)
        for keeps_fields, returned, packed in rows:
            numbers = [number for number in unpack_numbers(packed, returned) if number < len(self._used)]
            self._used[numbers] = True
            if keeps_fields:
                self._displayed[numbers] = True
        self._last_ranking = max(last, self._last_ranking)


def _last_ranking() -> int:
    return Ranking.objects.aggregate(last=Max("pk"))["last"] or 0
