"""For who watches the servers: is the process up, and can it work."""

from django.contrib.auth.decorators import login_not_required
from django.db import Error, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe


@login_not_required
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """The process answers."""
    return JsonResponse({"status": "up"})


@login_not_required
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """The database answers, and with it the queue that lives there."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        return JsonResponse({"status": "no database"}, status=503)
    return JsonResponse({"status": "ready"})
