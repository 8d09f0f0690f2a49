"""Background tasks of groups of cases."""

from relevancy.background_task import background_task
from relevancy.tasks import HIGH_PRIORITY, enqueue_comparison, send

from . import groups, stored_groups


@background_task(priority=HIGH_PRIORITY)
def compute_group_comparison(comparison_id: int) -> None:
    """Computes the figures of a group from the stored comparisons of its cases."""
    stored_groups.compute(comparison_id)


def enqueue_group_figures(compared: groups.ComparedGroup) -> None:
    """Enqueues what is missing of the comparison of a group: first the comparisons of its cases, then that of the group."""
    for stored in compared.to_compute:
        enqueue_comparison(stored)
    stored_group = None if compared.to_compute or not compared.is_pending else compared.stored
    if stored_group is not None and stored_groups.queue(stored_group):
        send(compute_group_comparison, stored_group.pk)
