"""The ends of runs in the activity log."""

from relevancy import activity
from relevancy.models import Activity, Run

_VERBS = {
    Run.Status.COMPLETE: Activity.Verb.RUN_FINISHED,
    Run.Status.INCOMPLETE: Activity.Verb.RUN_INCOMPLETE,
    Run.Status.CANCELLED: Activity.Verb.RUN_CANCELLED,
    Run.Status.FAILED: Activity.Verb.RUN_FAILED,
}


def record_end(run: Run, status: Run.Status, reason: str) -> None:
    """Adds the end of a run to the log of its case; call it in the transaction that ends the run."""
    activity.record(
        _VERBS[status], case=run.case_id, by=None, subject=f"run {run.number}", object_id=run.pk, reason=reason
    )
