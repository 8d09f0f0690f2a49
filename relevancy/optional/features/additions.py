"""What the app adds to the core: the tab of features, what the worker does for them, and what becomes of them."""

from collections.abc import Iterator

from django.urls import reverse

from relevancy.hooks import (
    Link,
    Loss,
    Place,
    ShownRun,
    activity_sentences,
    add_links,
    case_activity_kinds,
    case_losses,
    case_parts,
    held_requests,
    help_pages,
    query_models,
    sweep,
)
from relevancy.models import Case, User
from relevancy.wording import counted

from . import feature_sets, fitting, logs, tasks
from .case_part import CASE_PART
from .models import FeatureSet, FeatureValues

case_activity_kinds["feature_set"] = "Features"
activity_sentences.update(
    {
        feature_sets.SAVED: "Saved {subject}",
        feature_sets.DELETED: "Deleted {subject} with its values",
        logs.STARTED: "Started to log {subject}",
        logs.STOPPED: "Stopped logging {subject}",
        logs.CONTINUED: "Went on logging {subject}",
        logs.LOGGED: "Logged {subject}. {reason}",
        fitting.FITTED: "Started to fit {model} of {subject}",
        fitting.ADOPTED: "Created {subject} of {model}",
        fitting.RERANKED: "Ranked {subject} again here, by {model}",
        logs.FAILED: "{subject} could not be logged. {reason}",
    }
)
help_pages["cases/<int:case_id>/features/"] = "features"
held_requests.add(logs.held_requests)
query_models.append(FeatureValues)
case_parts["features"] = CASE_PART


@add_links[Place.CASE_TABS]
def case_tab(shown: ShownRun) -> Iterator[Link]:
    """Yields the tab of a case."""
    yield Link("Features", reverse("features", args=[shown.case.pk]), "features-tab")


@sweep.add
def continue_abandoned() -> None:
    """Goes on with logs whose worker has died, or that waited for the endpoint, and with models that nobody fits."""
    logs.release_dead()
    fitting.release_dead()
    for log_id in logs.waiting_logs():
        tasks.enqueue(log_id)
    for model_id in fitting.waiting_models():
        tasks.enqueue_model(model_id)


@case_losses.add
def losses(case: Case, user: User) -> Iterator[Loss]:
    """Yields the feature sets that are deleted with a case."""
    count = FeatureSet.objects.filter(case=case).count()
    if count:
        yield Loss("deleted", "features", f"{counted(count, 'feature set')} with all logged values")
