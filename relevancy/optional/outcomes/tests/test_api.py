"""Outcomes in the REST API."""

import pytest

from relevancy.optional.outcomes.models import OnlineOutcome
from tests.api.test_files import refused
from tests.comparison.conftest import run_with
from tests.factories import make_case

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(script):
    return make_case(["q1"])


def test_outcomes_of_online_tests_are_imported_and_listed(api, case, script):
    client = api(case.owner)
    first, second = (run_with(case, {}) for _ in range(2))
    address = f"/cases/{case.pk}/import/outcome?a={first.number}&b={second.number}&name=May"
    sessions = "winner,count\na,6\nb,18\ntie,4\n"
    preview = client.upload(f"{address}&dry_run=true", sessions).json()
    assert (preview["id"], preview["winner"], round(preview["effect"], 6)) == (None, "b", 0.214286)
    assert not OnlineOutcome.objects.exists()
    stored = client.upload(address, sessions)
    assert (stored.status_code, stored.json()["id"]) == (201, OnlineOutcome.objects.get().pk)
    (listed,) = client.get(f"/cases/{case.pk}/outcomes")["items"]
    assert listed == stored.json()
    assert "'c' is not a, b or tie" in refused(client.upload(address, "winner,count\nc,1\n"))["detail"]
    assert client.upload(f"/cases/{case.pk}/import/outcome?a=1&b=99", sessions).status_code == 404
    path = f"/cases/{case.pk}/outcomes/{listed['id']}"
    assert client.send("DELETE", path).status_code == 204
    assert client.items(f"/cases/{case.pk}/outcomes") == []
    assert client.send("DELETE", path).status_code == 404
    assert case.activities.filter(verb="run.outcome_deleted").count() == 1
