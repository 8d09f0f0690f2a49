"""Background tasks of query classes."""

from relevancy import tasks as core_tasks
from relevancy.background_task import background_task
from relevancy.models import Case

from .applying import apply_rules
from .models import RuleState


@background_task(priority=core_tasks.LOW_PRIORITY)
def apply_tag_rules(case_id: int) -> None:
    """Applies the rules of a case, and enqueues itself if something has changed meanwhile."""
    case = Case.objects.select_related("book").filter(pk=case_id).first()
    if case is None:
        return
    is_done = apply_rules(case)
    RuleState.objects.filter(case=case_id).update(queued_at=None)
    if not is_done:
        enqueue(case_id)


def enqueue(case_id: int) -> None:
    """Enqueues the application of the rules of a case, once however often it is called before the task has finished."""
    if core_tasks.mark_queued(RuleState.objects.filter(case=case_id), "queued_at"):
        core_tasks.send(apply_tag_rules, case_id)
