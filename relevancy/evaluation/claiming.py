"""Who works on a run: claimed for one chunk, given up by the dead, one run at a time on an endpoint."""

import uuid
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from relevancy.models import Endpoint, Run

from .scorers import versions_of
from .scores import score_case

STALE_AFTER = timedelta(seconds=60)
MAX_TRIES = 3


def claim(run_id: int) -> str:
    """Take the run for one chunk; the token, or "" when someone else works on it or on its endpoint."""
    now = timezone.now()
    token = uuid.uuid4().hex
    neighbours = Run.objects.filter(
        status=Run.Status.RUNNING, heartbeat_at__gte=now - STALE_AFTER, attempt__endpoint=OuterRef("attempt__endpoint")
    ).exclude(pk=OuterRef("pk"))
    free = Q(claimed_by="") | Q(heartbeat_at=None) | Q(heartbeat_at__lt=now - STALE_AFTER)
    wanted = Run.objects.filter(free, ~Exists(neighbours), pk=run_id).under_way()
    with transaction.atomic():
        # Two workers that claim two runs at one moment would not see each other: the endpoint's row lets one in at a time.
        list(
            Endpoint.objects.filter(attempts__runs=run_id)
            .select_for_update(of=("self",), no_key=True)
            .values_list("pk")
        )
        taken = wanted.update(
            claimed_by=token, heartbeat_at=now, status=Run.Status.RUNNING, started_at=Coalesce(F("started_at"), now)
        )
    return token if taken else ""


def waiting_behind(run: Run) -> list[int]:
    """Runs that wait for the endpoint this run used."""
    others = Run.objects.filter(status=Run.Status.WAITING, attempt__endpoint=run.attempt.endpoint_id)
    return list(others.exclude(pk=run.pk).order_by("id").values_list("pk", flat=True))


def sweep() -> list[int]:
    """Runs that nobody works on although they should be: counted, failed after three tries, the others returned to be woken."""
    now = timezone.now()
    stale = Run.objects.under_way().filter(
        Q(heartbeat_at__lt=now - STALE_AFTER) | Q(heartbeat_at=None, created_at__lt=now - STALE_AFTER)
    )
    stale.exclude(claimed_by="").update(tries=F("tries") + 1, claimed_by="", heartbeat_at=now - STALE_AFTER * 2)
    for run in stale.filter(tries__gte=MAX_TRIES).select_related("case"):
        with transaction.atomic():
            Run.objects.filter(pk=run.pk).update(
                status=Run.Status.FAILED,
                finished_at=now,
                reason=f"{MAX_TRIES} workers in a row died while working on this run. "
                "Look at the worker's log, then complete the run.",
            )
            if run.done:
                score_case(run, versions_of(run.case))
    return list(stale.order_by("id").values_list("pk", flat=True))
