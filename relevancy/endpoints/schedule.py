"""The schedule of an endpoint with a limit of requests per minute, which all processes share."""

from datetime import datetime, timedelta

from django.db import connection, transaction
from django.utils import timezone

from relevancy.models import Endpoint

MAX_AHEAD = 64  # requests that processes may wait for; a time that is later is from before the clock was changed


def reserve(endpoint_id: int, per_minute: int, count: int) -> float:
    """Reserves successive requests to an endpoint, one every `60 / per_minute` seconds, and returns the seconds until the first one.

    A negative count gives back requests that were reserved and not sent. The threads that send requests call this function.
    """
    was_closed = connection.connection is None
    try:
        with transaction.atomic():
            now = timezone.now()
            row = Endpoint.objects.filter(pk=endpoint_id)
            scheduled: datetime | None = (
                row.select_for_update(no_key=True).values_list("next_request_at", flat=True).first()
            )
            interval = timedelta(minutes=1) / per_minute
            if scheduled is None or scheduled > now + max(timedelta(minutes=1), MAX_AHEAD * interval):
                scheduled = now
            start = max(scheduled, now) if count > 0 else scheduled
            row.update(next_request_at=start + count * interval)
        return (start - now).total_seconds()
    finally:
        if was_closed:  # of a thread that sends requests: nothing else closes its connection
            connection.close()
