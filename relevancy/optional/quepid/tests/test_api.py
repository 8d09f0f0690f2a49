"""Files of Quepid in the REST API."""

import json

import pytest

from relevancy.models import Case, Run
from relevancy.optional.quepid.tests import quepid_files
from tests.factories import make_case

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture
def case():
    return make_case(["star wars"], {"star wars": {"1": 3}})


def test_files_as_quepid_writes_them(api, case):
    """With positions and versions of 19 digits."""
    client = api(case.owner)
    answer = client.upload("/import/cases", json.dumps(quepid_files.CASE))
    assert answer.status_code == 201, answer.content
    imported = Case.objects.get(pk=answer.json()["id"])
    texts = imported.case_queries.order_by("position").values_list("query__text", flat=True)
    assert list(texts) == ["alien", "star wars"]
    snapshot = {**quepid_files.SNAPSHOT, "queries": [{"query_id": 31, "query_text": "star wars"}]}
    answer = client.upload(f"/cases/{case.pk}/import/runs", json.dumps(snapshot))
    assert answer.status_code == 201, answer.content
    hits = Run.objects.get(pk=answer.json()["runs"][0]["id"]).rankings.get().hits
    assert hits[0][2]["_version_"] == 1853562411209818112
