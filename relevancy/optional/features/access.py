"""Feature sets and their logs as pages, the API and the command read them."""

from django.shortcuts import get_object_or_404

from relevancy.models import Case

from .models import FeatureLog, FeatureModel, FeatureSet


def get_feature_set(case: Case, version: int) -> FeatureSet:
    """Returns a version of the features of a case. Raises `Http404`."""
    rows = FeatureSet.objects.select_related("attempt__endpoint", "created_by")
    feature_set: FeatureSet = get_object_or_404(rows, case=case, version=version)
    feature_set.case = case
    return feature_set


def newest_log(feature_set: FeatureSet) -> FeatureLog | None:
    """Returns the newest log of a version, None if it has none."""
    log: FeatureLog | None = feature_set.logs.select_related("run").first()
    if log is not None:
        log.feature_set = feature_set
    return log


def get_model(case: Case, version: int, model_id: int) -> FeatureModel:
    """Returns a model of a version of the features of a case. Raises `Http404`."""
    feature_set = get_feature_set(case, version)
    rows = FeatureModel.objects.filter(log__feature_set=feature_set)
    related = ("log__run", "version__scorer", "attempt", "run", "created_by")
    model: FeatureModel = get_object_or_404(rows.select_related(*related), pk=model_id)
    model.log.feature_set = feature_set
    return model
