"""The page “Work”, for admins."""

from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from relevancy import tasks
from relevancy.models import Run

from . import sizes, task_queue, workers
from .models import WorkerProcess

MAX_RUNS = 50
HEADINGS = {
    "failed": "Tasks that have failed",
    "running": "Tasks that are running",
    "waiting": "Tasks that are waiting",
}


@require_safe
def work(request: HttpRequest) -> HttpResponse:
    """Tasks, workers, active runs, sizes of tables and free disk space."""
    _check_admin(request)
    active = Run.objects.active().order_by("created_at")
    is_listable = tasks.is_queue_in_database()
    lists = task_queue.task_lists() if is_listable else {}
    processes = [(process, workers.is_silent(process)) for process in WorkerProcess.objects.all()]
    context = {
        **admin.site.each_context(request),
        "title": "Work",
        "now": timezone.now(),
        "is_listable": is_listable,
        "task_lists": [(name, HEADINGS[name], listed) for name, listed in lists.items()],
        "workers": processes,
        "is_without_worker": all(is_silent for _, is_silent in processes),
        "run_count": active.count(),
        "runs": active.select_related("case").defer("config")[:MAX_RUNS],
        "sizes": sizes.measure(),
    }
    return render(request, "background_work/work.html", context)


@require_POST
def repeat_task(request: HttpRequest, task_id: UUID) -> HttpResponse:
    """Lets a failed task wait for a worker again."""
    _check_admin(request)
    if task_queue.repeat(task_id):
        messages.success(request, "The task waits for a worker again.")
    else:
        messages.warning(request, "This task has not failed, or is not there any more.")
    return redirect("background_work")


def _check_admin(request: HttpRequest) -> None:
    if not request.user.is_superuser:
        raise PermissionDenied("Only admins can see the background work of the site.")
