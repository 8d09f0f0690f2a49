"""Claims: a worker claims a run for one chunk. One run at a time uses an endpoint; dead workers lose their claims."""

import uuid
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from relevancy.models import Endpoint, Run, ScorerVersion
from relevancy.scores import score_case

from .endings import record_end

STALE_AFTER = timedelta(seconds=40)  # four heartbeats; with `tasks.SWEEP_SECONDS` less than a minute
MAX_WORKER_RESTARTS = 3


def claim(run_id: int) -> str:
    """Claims a run for one chunk. Returns the token, or an empty string if another worker uses the run or its endpoint."""
    now = timezone.now()
    token = uuid.uuid4().hex
    neighbours = Run.objects.filter(
        status=Run.Status.RUNNING, heartbeat_at__gte=now - STALE_AFTER, attempt__endpoint=OuterRef("attempt__endpoint")
    ).exclude(pk=OuterRef("pk"))
    free = Q(claimed_by="") | Q(heartbeat_at=None) | Q(heartbeat_at__lt=now - STALE_AFTER)
    wanted = Run.objects.filter(free, ~Exists(neighbours), pk=run_id).active()
    with transaction.atomic():
        # Locks the endpoint: two workers that claim two of its runs at the same moment would not see each other.
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
    """Returns the ids of the runs that wait for this run's endpoint."""
    others = Run.objects.filter(status=Run.Status.WAITING, attempt__endpoint=run.attempt.endpoint_id)
    return list(others.exclude(pk=run.pk).order_by("id").values_list("pk", flat=True))


def sweep() -> list[int]:
    """Finds runs whose worker has died or whose task was lost. Returns the ids of the runs to continue.

    A run fails after `MAX_WORKER_RESTARTS` dead workers.
    """
    now = timezone.now()
    stale = Run.objects.active().filter(
        Q(heartbeat_at__lt=now - STALE_AFTER) | Q(heartbeat_at=None, created_at__lt=now - STALE_AFTER)
    )
    stale.exclude(claimed_by="").update(
        worker_restarts=F("worker_restarts") + 1, claimed_by="", heartbeat_at=now - STALE_AFTER * 2
    )
    for run in stale.filter(worker_restarts__gte=MAX_WORKER_RESTARTS).select_related("case"):
        reason = (
            f"{MAX_WORKER_RESTARTS} workers in a row stopped unexpectedly during this run. "
            "Check the log of the worker, then complete the run."
        )
        with transaction.atomic():
            Run.objects.filter(pk=run.pk).update(status=Run.Status.FAILED, finished_at=now, reason=reason)
            record_end(run, Run.Status.FAILED, reason)
            if run.done:
                score_case(run, ScorerVersion.objects.used_by(run.case_id))
    return list(stale.order_by("id").values_list("pk", flat=True))
