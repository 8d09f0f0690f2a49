"""Feature sets in files with whole cases, and in copies of a case."""

import json
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from relevancy import cases
from relevancy.formats import BadFile, parse_case
from relevancy.models import Case, Endpoint
from relevancy.optional.features.models import FeatureSet
from tests.factories import make_user
from tests.formats.relevancy_files import CASE, as_file
from tests.formats.test_relevancy_file import exported, imported

pytestmark = pytest.mark.django_db


def sets_of(case: Case) -> list[tuple[Any, ...]]:
    rows = FeatureSet.objects.filter(case=case).order_by("version")
    return list(rows.values_list("version", "attempt__number", "features"))


def test_feature_sets_travel_with_the_file(feature_set: FeatureSet) -> None:
    case, owner = feature_set.case, make_user("Root", superuser=True)
    features = [["other", "number", "votes"]]
    FeatureSet.objects.create(case=case, version=3, attempt=feature_set.attempt, features=features, created_by=owner)
    file = exported(case, owner)
    assert [item["version"] for item in json.loads(file)["apps"]["features"]] == [1, 3]
    copy = imported(file, owner)
    assert len(sets_of(case)) == 2
    assert sets_of(copy) == sets_of(case)
    assert exported(copy, owner) == file


def test_copies_of_a_case_have_the_feature_sets_of_their_attempts(feature_set: FeatureSet) -> None:
    case = feature_set.case

    def copy(*, with_attempts: bool) -> Case:
        name = f"Copy {with_attempts}"
        return cases.duplicate(case=case, name=name, ratings="none", with_attempts=with_attempts, by=case.owner).case

    assert sets_of(copy(with_attempts=True)) == sets_of(case) != []
    assert sets_of(copy(with_attempts=False)) == []


def test_a_case_whose_engine_can_log_no_features_any_more_is_copied_without_them(feature_set: FeatureSet) -> None:
    case, endpoint = feature_set.case, feature_set.attempt.endpoint
    Endpoint.objects.filter(pk=endpoint.pk).update(engine="static")
    copy = cases.duplicate(case=case, name="Copy", ratings="none", with_attempts=True, by=case.owner).case
    assert copy.attempts.count() == case.attempts.count()
    assert sets_of(copy) == []


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("x", r"^apps\.features: this must be a list of feature sets, not 'x'"),
        ([{"version": 1, "attempt": 2}], r"^apps\.features\[1\]\.features: this is missing"),
        ([{"version": 0, "attempt": 2, "features": []}], r"^apps\.features\[1\]\.version: "),
        (
            [{"version": 2, "attempt": 2, "features": ["a: x"]}] * 2,
            r"^apps\.features\[2\]\.version: 2 does not follow 2",
        ),
    ],
)
def test_malformed_feature_sets_are_refused_with_their_location(value: Any, message: str) -> None:
    with pytest.raises(BadFile, match=message):
        parse_case(as_file({**CASE, "apps": {"features": value}}))


def test_what_is_no_feature_of_the_engine_changes_nothing(feature_set: FeatureSet) -> None:
    owner = make_user("Root", superuser=True)
    content = json.loads(exported(feature_set.case, owner))
    content["apps"]["features"][0]["features"] = ["title:"]
    with pytest.raises(ValidationError, match="Feature set 1 of the file: Line 1: title has no query"):
        imported(content, owner)
    assert list(Case.objects.all()) == [feature_set.case]
