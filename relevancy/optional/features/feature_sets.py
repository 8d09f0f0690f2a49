"""Feature sets of a case: saved as versions."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max

from relevancy import activity, engines, runs
from relevancy.models import Attempt, Case, User

from .feature_text import FeatureError, parse_features
from .models import FeatureSet

SAVED, DELETED = "feature_set.saved", "feature_set.deleted"


def save(*, case: Case, attempt: Attempt, text: str, by: User) -> FeatureSet:
    """Saves the features of a case: as the newest version if nothing has been logged of it, else as a new one.

    attempt: whose endpoint is asked. text: as `parse_features` reads it. Raises `ValidationError` for the field.
    """
    if reason := runs.why_not_usable(case=case, endpoint=attempt.endpoint, by=by):
        raise ValidationError({"attempt": reason})
    engine = engines.find(attempt.endpoint.engine)
    if engine is None or runs.is_for_imported(attempt.endpoint):
        raise ValidationError({"attempt": f"Attempt {attempt.number} has no search engine that could be asked."})
    try:
        features = [[item.name, item.kind, item.text] for item in parse_features(text, engine)]
    except FeatureError as error:
        raise ValidationError({"text": str(error)}) from None
    with transaction.atomic():
        Case.objects.select_for_update(no_key=True).get(pk=case.pk)
        newest = FeatureSet.objects.filter(case=case).order_by("-version").first()
        if newest is not None and (newest.features, newest.attempt_id) == (features, attempt.pk):
            return newest
        if newest is not None and not newest.logs.exists():
            newest.features, newest.attempt, newest.created_by = features, attempt, by
            newest.save()
            saved = newest
        else:
            last = FeatureSet.objects.filter(case=case).aggregate(last=Max("version"))["last"] or 0
            saved = FeatureSet.objects.create(
                case=case, version=last + 1, attempt=attempt, features=features, created_by=by
            )
        activity.record(SAVED, case=case, by=by, subject=f"feature set {saved.version}", object_id=saved.pk)
    return saved


def delete(*, feature_set: FeatureSet, by: User) -> None:
    """Deletes a version with everything that was logged of it. Raises `ValidationError` while it is being logged."""
    with transaction.atomic():
        locked = FeatureSet.objects.select_for_update().get(pk=feature_set.pk)
        if locked.logs.active().exists():
            raise ValidationError(f"{locked} is being logged. Stop it first.")
        activity.record(
            DELETED, case=locked.case_id, by=by, subject=f"feature set {locked.version}", object_id=locked.pk
        )
        locked.delete()
