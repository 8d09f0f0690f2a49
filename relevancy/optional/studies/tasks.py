"""Background tasks of studies."""

from relevancy import runs
from relevancy import tasks as core_tasks
from relevancy.background_task import background_task
from relevancy.models import Run

from . import findings, studies
from .models import Study
from .trial_scores import revision_of


@background_task(priority=core_tasks.LOW_PRIORITY)
def study_chunk(study_id: int) -> None:
    """Works on a study for some seconds, and enqueues the next chunk after runs that wait for the endpoint."""
    Study.objects.filter(pk=study_id).update(queued_at=None)
    is_unfinished = studies.continue_study(study_id)
    study = (
        Study.objects.select_related("case__book", "parent__endpoint", "version__scorer").filter(pk=study_id).first()
    )
    if study is None:
        return
    if not study.is_active:
        findings.update_findings(study)
    if is_unfinished:
        for run_id in runs.waiting_runs(study.parent.endpoint_id):
            core_tasks.enqueue_run(Run(pk=run_id))
        enqueue(study_id)


@background_task(priority=core_tasks.HIGH_PRIORITY)
def update_findings(study_id: int) -> None:
    """Computes what a study has found again, after ratings have changed."""
    study = (
        Study.objects.select_related("case__book", "parent__endpoint", "version__scorer").filter(pk=study_id).first()
    )
    if study is not None and not study.is_active:
        findings.update_findings(study)
    Study.objects.filter(pk=study_id).update(queued_at=None)


def enqueue(study_id: int) -> None:
    """Enqueues a chunk of a study, once however often it is called before the task begins."""
    if core_tasks.mark_queued(Study.objects.filter(pk=study_id), "queued_at"):
        core_tasks.send(study_chunk, study_id)


def enqueue_if_outdated(study: Study) -> bool:
    """Enqueues the findings of a study that has ended if its ratings have changed. Returns whether they are outdated."""
    is_outdated = not study.is_active and study.scored_revision not in (None, revision_of(study.case_id))
    if is_outdated and core_tasks.mark_queued(Study.objects.filter(pk=study.pk), "queued_at"):
        core_tasks.send(update_findings, study.pk)
    return is_outdated
