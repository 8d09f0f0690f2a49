"""A case on an embedded index of three films, with ratings and features."""

from pathlib import Path

import pytest

from relevancy import endpoints, runs
from relevancy.models import Case
from relevancy.optional.features import feature_sets, logs
from relevancy.optional.features.models import FeatureLog, FeatureSet
from tests.factories import make_case

FILMS = [
    {"id": "1", "title": "Star Wars", "overview": "A star far away.", "votes": 30},
    {"id": "2", "title": "Wars", "overview": "Under a star, a war.", "votes": 7},
    {"id": "3", "title": "Solaris", "overview": "An ocean."},
]
TEXT = """
title_score: {"query": "#$query##", "fields": {"title": 1}}
overview_score:
  {"query": "#$query##",
   "fields": {"overview": 1}}
votes: number votes
"""
GRADES = {"star": {"1": 3, "2": 1, "3": 0}, "wars": {"2": 3, "gone": 2}}


@pytest.fixture
def case(data_dir: Path) -> Case:
    """A case of two queries, with an attempt on the index."""
    case = make_case(["star", "wars"], GRADES)
    endpoint = endpoints.create(name="films", engine="embedded", url="films", by=case.owner)
    with endpoints.connect(endpoint) as engine:
        engine.load_documents(FILMS)
    runs.attempts.save(
        case=case,
        endpoint=endpoint,
        template='{"query": "#$query##", "fields": {"overview": 1, "title": ##title_boost##}, "tie": 1}',
        fields="id:id title:title",
        by=case.owner,
    )
    return case


@pytest.fixture
def feature_set(case: Case) -> FeatureSet:
    """Three features: two queries and a number."""
    return feature_sets.save(case=case, attempt=case.attempts.get(), text=TEXT, by=case.owner)


@pytest.fixture
def log(feature_set: FeatureSet) -> FeatureLog:
    """Their log, complete."""
    log = logs.start(feature_set=feature_set, by=feature_set.case.owner)
    assert not logs.continue_log(log.pk)
    log.refresh_from_db()
    return log
