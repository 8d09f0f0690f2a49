"""The feature sets of a case in files with whole cases, and in copies of the case. The values of features stay with their case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ValidationError

from relevancy import engines
from relevancy.formats.errors import BadFile, quote
from relevancy.formats.relevancy.schema import Element, Lines, Positive
from relevancy.hooks import CasePart
from relevancy.models import Case, User

from .feature_text import FeatureError, UnsupportedFeature, format_features, parse_features
from .models import FeatureSet

MAX_SETS = 1_000


class FeatureSetElement(Element):
    """A feature set of a file. attempt: its number. features: the lines that `parse_features` reads."""

    version: Positive
    attempt: Positive
    features: Lines


def write(case: Case) -> list[dict[str, Any]] | None:
    """Returns the feature sets of a case, the oldest first."""
    rows = FeatureSet.objects.filter(case=case).select_related("attempt").order_by("version")
    listed = [
        {"version": row.version, "attempt": row.attempt.number, "features": format_features(row.items).split("\n")}
        for row in rows
    ]
    return listed or None


def read(value: Any, location: str) -> list[FeatureSetElement]:
    """Checks feature sets, but not their queries, which depend on the engine of the attempt. Raises `BadFile`."""
    if not isinstance(value, list):
        raise BadFile(f"{location}: this must be a list of feature sets, not {quote(value)}.")
    if len(value) > MAX_SETS:
        raise BadFile(f"{location}: there are {len(value):,} feature sets; at most {MAX_SETS:,} are possible.")
    elements: list[FeatureSetElement] = []
    for number, item in enumerate(value, 1):
        element = FeatureSetElement.read(item, f"{location}[{number}]")
        if elements and element.version <= elements[-1].version:
            raise element.refuse("version", f"{element.version} does not follow {elements[-1].version}")
        elements.append(element)
    return elements


def store(case: Case, elements: Sequence[FeatureSetElement], by: User) -> None:
    """Stores the feature sets whose attempts the case has, on an engine that is installed and can log their features: a copy may be
    without attempts, and an endpoint may have got another engine. Raises `ValidationError`."""
    attempts = {attempt.number: attempt for attempt in case.attempts.select_related("endpoint")}
    for element in elements:
        attempt = attempts.get(element.attempt)
        engine = engines.find(attempt.endpoint.engine) if attempt else None
        if attempt is None or engine is None:
            continue
        try:
            features = parse_features(element.features, engine)
        except UnsupportedFeature:
            continue
        except FeatureError as error:
            raise ValidationError(f"Feature set {element.version} of the file: {error}") from None
        FeatureSet.objects.create(
            case=case,
            version=element.version,
            attempt=attempt,
            features=[[item.name, item.kind, item.text] for item in features],
            created_by=by,
        )


CASE_PART = CasePart(write, read, store)
