"""Health checks for load balancers and monitoring."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import Error, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

DATABASE_TIMEOUT = 0.8  # seconds, for a connection of the pool to PostgreSQL; pages wait longer
BROKER_TIMEOUT = 1.0  # seconds, for connecting and for the answer


@login_not_required
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Whether the process is up."""
    return JsonResponse({"status": "up"})


@login_not_required
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Whether the process can work: the database answers and, with Celery, the broker too."""
    try:
        pool = getattr(connection, "pool", None)  # of PostgreSQL
        if pool is None:
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
        else:
            pool.open()
            with connection.wrap_database_errors, pool.connection(timeout=DATABASE_TIMEOUT) as own:
                own.execute("SELECT 1")
    except Error:
        return JsonResponse({"status": "no database"}, status=503)
    broker_url = getattr(settings, "CELERY_BROKER_URL", None)  # only set if RELEVANCY_TASKS=celery
    if broker_url is not None and not _is_broker_up(broker_url):
        return JsonResponse({"status": "no broker"}, status=503)
    return JsonResponse({"status": "ready"})


def _is_broker_up(url: str) -> bool:
    """Whether Redis answers a PING in time. Celery's own connection would retry for several seconds."""
    # An optional dependency, installed where RELEVANCY_TASKS=celery.
    from redis import Redis, RedisError  # noqa: PLC0415
    from redis.backoff import NoBackoff  # noqa: PLC0415
    from redis.retry import Retry  # noqa: PLC0415

    try:
        with Redis.from_url(
            url, socket_connect_timeout=BROKER_TIMEOUT, socket_timeout=BROKER_TIMEOUT, retry=Retry(NoBackoff(), 0)
        ) as redis:
            return bool(redis.ping())
    except (RedisError, OSError, ValueError):  # ValueError: not a URL of Redis
        return False
