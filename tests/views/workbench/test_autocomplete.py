"""What is offered while an attempt is edited."""

import pytest
from django.core.cache import cache

from relevancy.models import Endpoint
from tests.factories import make_endpoint

from .example_cases import at, make_workbench_case


@pytest.fixture
def case(people, team, script):
    cache.clear()
    return make_workbench_case(people, team)


def test_offered(sign_in, case):
    endpoint = Endpoint.objects.get()
    offered = sign_in("editor").get(at(case, "autocomplete", endpoint=endpoint.pk)).json()
    assert offered["names"] == ["id"]
    assert "title:id" in offered["fields"]
    assert "#$query##" in offered["slots"]
    assert (offered["words"], offered["reason"]) == ([], "")


def test_offered_of_an_endpoint_the_user_does_not_see(sign_in, case, people):
    foreign = make_endpoint(people["stranger"])
    client = sign_in("editor")
    assert client.get(at(case, "autocomplete", endpoint=foreign.pk)).status_code == 404
    assert client.get(at(case, "autocomplete")).status_code == 404


@pytest.mark.parametrize(("who", "status"), [("rater", 403), ("viewer", 403), ("stranger", 404)])
def test_offered_is_for_editors(sign_in, case, who, status):
    assert sign_in(who).get(at(case, "autocomplete", endpoint=Endpoint.objects.get().pk)).status_code == status
