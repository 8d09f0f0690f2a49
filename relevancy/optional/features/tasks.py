"""Background tasks of feature sets."""

from relevancy import runs
from relevancy import tasks as core_tasks
from relevancy.background_task import background_task
from relevancy.models import Run

from . import fitting, logs
from .models import FeatureLog, FeatureModel


@background_task(priority=core_tasks.LOW_PRIORITY)
def log_chunk(log_id: int) -> None:
    """Logs features for some seconds, and enqueues the next chunk, after runs that wait for the endpoint."""
    FeatureLog.objects.filter(pk=log_id).update(queued_at=None)
    if logs.continue_log(log_id):
        endpoint_id = FeatureLog.objects.values_list("feature_set__attempt__endpoint", flat=True).get(pk=log_id)
        for run_id in runs.waiting_runs(endpoint_id):
            core_tasks.enqueue_run(Run(pk=run_id))
        enqueue(log_id)


@background_task(priority=core_tasks.LOWEST_PRIORITY)
def fit_model(model_id: int) -> None:
    """Fits a model."""
    related = ("log__feature_set__case__book", "log__feature_set__attempt__endpoint", "log__run", "version__scorer")
    model = FeatureModel.objects.select_related(*related).filter(pk=model_id).first()
    if model is not None:
        fitting.fit(model)


def enqueue_model(model_id: int) -> None:
    """Enqueues the fitting of a model, once however often it is called before the task begins."""
    waiting = FeatureModel.objects.filter(pk=model_id, status=FeatureModel.Status.WAITING)
    if core_tasks.mark_queued(waiting, "queued_at"):
        core_tasks.send(fit_model, model_id)


def enqueue(log_id: int) -> None:
    """Enqueues a chunk of a log, once however often it is called before the task begins."""
    if core_tasks.mark_queued(FeatureLog.objects.active().filter(pk=log_id), "queued_at"):
        core_tasks.send(log_chunk, log_id)
