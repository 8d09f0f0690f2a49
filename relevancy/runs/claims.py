"""Claims: a worker claims a part of a run for one chunk, and with it some of the requests that the endpoint answers at a time.

See docs/decisions/0190.
"""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Max, Q, QuerySet, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from relevancy import engines, hooks
from relevancy.models import Endpoint, Run, RunPart

STALE_AFTER = timedelta(seconds=40)  # four heartbeats; with `tasks.SWEEP_SECONDS` less than a minute
MAX_WORKER_RESTARTS = 3


@dataclass(frozen=True)
class Claim:
    """A part that a worker has claimed. has_more: whether another worker can claim another part of the run now."""

    part: RunPart
    has_more: bool


def is_stale() -> Q:
    """The condition of parts whose last heartbeat is too old. One that is further ahead than that is of a clock that was wrong."""
    now = timezone.now()
    return Q(heartbeat_at__lt=now - STALE_AFTER) | Q(heartbeat_at__gt=now + STALE_AFTER)


def is_idle() -> Q:
    """The condition of parts, and of leases of apps, that no living worker holds."""
    return Q(claimed_by="") | is_stale()


def is_free() -> Q:
    """The condition of parts that a worker may claim."""
    return is_idle() & Q(worker_restarts__lt=MAX_WORKER_RESTARTS)


def claim(run_id: int) -> Claim | None:
    """Claims the first free part of a run. Returns None if it has none, or if all requests of the endpoint, or those that are the share
    of the run, are in use.

    The workers of all runs of an endpoint together never hold more slots than it answers requests at a time. If several runs want to
    use it, each may hold an equal share.
    """
    now = timezone.now()
    with transaction.atomic():
        # Locks the endpoint, so that two workers that claim parts at the same moment see each other's slots.
        of_run = Endpoint.objects.filter(attempts__runs=run_id).only("engine", "parallel")
        endpoint: Endpoint | None = of_run.select_for_update(of=("self",), no_key=True).first()
        free = RunPart.objects.filter(is_free(), run=run_id)
        part: RunPart | None = free.order_by("first").first()
        if endpoint is None or part is None:
            return None
        available = available_requests(endpoint, f"run {run_id}")
        part.slots = min(available, max_requests(endpoint))
        if part.slots <= 0:
            free.filter(pk=part.pk, claimed_by="").update(heartbeat_at=now)
            return None
        part.claimed_by = uuid.uuid4().hex
        if not free.filter(pk=part.pk).update(claimed_by=part.claimed_by, slots=part.slots, heartbeat_at=now):
            return None
        waiting = Run.objects.filter(Q(status=Run.Status.WAITING) | Q(started_at=None), pk=run_id)
        waiting.update(status=Run.Status.RUNNING, started_at=Coalesce(F("started_at"), now))
        return Claim(part, has_more=available > part.slots and free.exists())


def available_requests(endpoint: Endpoint, holder: str) -> int:
    """Returns how many more requests at a time may be sent to an endpoint by a run or by a task of an app: those that nobody sends, and
    no more than an equal share. Call it in a transaction that has locked the endpoint.

    holder: "run" and its id, or the name that the app gives in `hooks.held_requests`.
    """
    now = timezone.now()
    at_work = RunPart.objects.filter(
        run__attempt__endpoint=endpoint, heartbeat_at__range=(now - STALE_AFTER, now + STALE_AFTER)
    )
    by_run = at_work.order_by().values("run").annotate(held=Sum("slots")).values_list("run", "held")
    held = {f"run {run_id}": slots for run_id, slots in by_run}
    for others in hooks.held_requests(endpoint):
        held.update(others)
    share = ceil(endpoint.parallel / len({*held, holder}))
    available: int = min(endpoint.parallel - sum(held.values()), share - held.get(holder, 0))
    return available


def take_lease(rows: QuerySet[Any], endpoint: QuerySet[Endpoint], holder: str, **changes: Any) -> bool:
    """Leases a row of an app, which has `claimed_by`, `heartbeat_at`, `slots` and `worker_restarts` as a `RunPart` has, with requests
    of its endpoint. A sweep calls `release_dead`.

    rows: the row, if it may be worked on. changes: of its other fields. Returns False if a living worker has it, or if all requests of
    the endpoint, or those that are the share of the row, are in use.
    """
    with transaction.atomic():
        locked: Endpoint | None = endpoint.select_for_update(of=("self",), no_key=True).first()
        if locked is None:
            return False
        slots = min(available_requests(locked, holder), max_requests(locked))
        lease = {"claimed_by": uuid.uuid4().hex, "slots": slots, "heartbeat_at": timezone.now()}
        return slots > 0 and bool(rows.filter(is_idle()).update(**lease, **changes))


def max_requests(endpoint: Endpoint) -> int:
    """Returns how many requests at a time one worker sends. Engines on this server search one query after the other."""
    adapter = engines.find(endpoint.engine)
    return settings.WORKER_REQUESTS if adapter is not None and adapter.address.kind == "url" else 1


def release(part: RunPart, *, connection_failures: int) -> None:
    """Gives a part back that is searched further in another chunk."""
    RunPart.objects.filter(pk=part.pk, claimed_by=part.claimed_by).update(
        claimed_by="", slots=0, worker_restarts=0, connection_failures=connection_failures, heartbeat_at=timezone.now()
    )


def release_after_error(part: RunPart, *, is_failure: bool) -> None:
    """Gives a part back whose chunk has ended with an exception. is_failure: whether it counts as a worker that stopped."""
    RunPart.objects.filter(pk=part.pk, claimed_by=part.claimed_by).update(
        claimed_by="", slots=0, worker_restarts=F("worker_restarts") + int(is_failure)
    )


def has_free_part(run_id: int) -> bool:
    """Returns whether a run has a part that a worker may claim once the endpoint answers more requests."""
    return RunPart.objects.filter(is_free(), run=run_id).exists()


def waiting_behind(run: Run) -> list[int]:
    """Returns the ids of the other runs that could use the endpoint of this run, the one first that has been waiting the longest."""
    return [run_id for run_id in waiting_runs(run.attempt.endpoint_id) if run_id != run.pk]


def waiting_runs(endpoint_id: int) -> list[int]:
    """Returns the ids of the runs that could use an endpoint, the one first that has been waiting the longest."""
    free = RunPart.objects.filter(is_free(), run__attempt__endpoint=endpoint_id)
    by_run = free.order_by().values("run").annotate(latest=Max("heartbeat_at"))
    return list(by_run.order_by(F("latest").asc(nulls_first=True), "run").values_list("run", flat=True))


def release_dead(rows: QuerySet[Any], **changes: Any) -> QuerySet[Any]:
    """Takes parts, or leases of an app, from workers that have sent no heartbeat for too long, and counts them in `worker_restarts`.

    changes: of their other fields, `slots=0` if they hold requests of an endpoint.
    Returns those of the rows at which `MAX_WORKER_RESTARTS` workers in a row have stopped: they should fail.
    """
    dead = rows.filter(is_stale()).exclude(claimed_by="")
    for row in dead:  # one by one: a statement that locks several rows could deadlock with another one
        dead.filter(pk=row.pk, claimed_by=row.claimed_by).update(
            claimed_by="", worker_restarts=F("worker_restarts") + 1, **changes
        )
    return rows.filter(claimed_by="", worker_restarts__gte=MAX_WORKER_RESTARTS)


def abandoned_runs() -> list[int]:
    """Returns the ids of the active runs that no worker has looked at for too long."""
    now = timezone.now()
    old, ahead = now - STALE_AFTER, now + STALE_AFTER
    by_run = RunPart.objects.order_by().values("run", "run__created_at").annotate(latest=Max("heartbeat_at"))
    began_long_ago = Q(run__created_at__lt=old) | Q(run__created_at__gt=ahead)
    abandoned = by_run.filter(Q(latest__lt=old) | Q(latest__gt=ahead) | (Q(latest=None) & began_long_ago))
    return list(abandoned.order_by("run").values_list("run", flat=True))
