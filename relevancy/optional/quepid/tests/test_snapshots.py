"""Snapshots of Quepid as JSON become runs."""

import json

import pytest

from relevancy.models import Case
from relevancy.optional.quepid.tests.quepid_files import SNAPSHOT
from tests.factories import make_case
from tests.formats.test_runs_file import RATINGS, import_text, lists_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script", "data_dir")]


@pytest.fixture
def case() -> Case:
    return make_case(3, RATINGS, measures=("P@1", "nDCG@10"))


def test_a_snapshot_of_the_api_of_quepid_becomes_a_run(case: Case) -> None:
    """With Solr's `_version_` of 19 digits, and null for explanations and fields."""
    (run,) = import_text(case, json.dumps(SNAPSHOT)).runs
    assert lists_of(run) == {"query 1": "a1853562411209818113", "query 2": "", "query 3": ""}
    hits = run.rankings.get(query__text="query 1").hits
    assert hits[0][2] == {"title": "Film A", "price": None, "_version_": 1853562411209818112}
    assert hits[1] == ["1853562411209818113", None, {}]


def test_positions_of_a_snapshot_may_have_any_size(case: Case) -> None:
    docs = [{"id": "b", "position": 2**63 - 1}, {"id": "a", "position": 2**63 - 2}, {"id": "c", "position": None}]
    (run,) = import_text(case, json.dumps({"snapshots": [{"queries": {"query 1": {"docs": docs}}}]})).runs
    assert lists_of(run)["query 1"] == "abc"
