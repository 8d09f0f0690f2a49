"""An attempt on its way to production in the REST API."""

import pytest

from relevancy import comparison
from relevancy.models import StoredComparison
from relevancy.optional.production.tests.test_evidence import attempts
from relevancy.optional.production.tests.test_evidence import case as case  # a fixture
from tests.factories import run_now

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


def test_read_production(api, case):  # type: ignore[no-untyped-def]
    first, second = attempts(case)
    client, path = api(case.owner), f"/cases/{case.pk}/attempts/2/production"
    read = client.get(path)
    assert (read["attempt"], read["against"], read["is_pending"], read["evidence"]) == (2, 1, False, "")
    assert "no complete run" in read["no_evidence"]
    assert read["deployment"]["inputs"][0]["name"] == "#$query##"
    run_now(first)
    run_now(second)
    assert client.get(path)["is_pending"]
    comparison.stored.compute(StoredComparison.objects.get().pk)
    read = client.get(f"{path}?against=1")
    assert read["evidence"].startswith(f"### {case.name}: attempt 2 against attempt 1")
    assert read["no_difference"] and not read["difference"]
    assert client.send("GET", f"{path}?against=9").status_code == 404
    assert client.send("GET", f"{path}?scorer=999999").status_code == 404
