"""The page of an attempt on its way to production, its files, and the links to it."""

import pytest

from relevancy.optional.production.proposal import Proposal
from relevancy.optional.production.tests.test_evidence import attempts
from relevancy.optional.production.tests.test_evidence import case as case  # a fixture
from tests.factories import make_attempt, make_endpoint, run_now
from tests.views.workbench.example_cases import at, by_id, elements, words

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


def page_of(attempt, part="", **parameters):
    query = "&".join(f"{name}={value}" for name, value in parameters.items())
    return f"/cases/{attempt.case_id}/attempts/all/{attempt.number}/production/{part}?{query}"


def attributes(element):
    return dict(element.attributes)


@pytest.fixture
def client(client, case):
    client.force_login(case.owner)
    return client


def test_the_page_shows_the_text_the_difference_and_the_evidence(client, case):
    first, second = attempts(case)
    run_now(first)
    run_now(second)
    response = client.get(page_of(second))
    assert "data-pending" in attributes(by_id(response, "evidence"))
    response = client.get(page_of(second))
    assert "data-pending" not in attributes(by_id(response, "evidence"))
    assert words(by_id(response, "evidence-text")).startswith(f"### {case.name}: attempt 2 against attempt 1")
    assert [
        row["data-input"]
        for row in map(attributes, elements(by_id(response, "inputs"), _name="tr"))
        if "data-input" in row
    ] == ["#$query##"]
    assert "deployed as the same text" in words(by_id(response, "no-difference"))
    fragment = client.get(page_of(second), headers={"HX-Request": "true", "HX-Target": "evidence"}).content.decode()
    assert fragment.lstrip().startswith("<section") and "<html" not in fragment
    # the comparison leads here, and here leads back
    compared = client.get(attributes(by_id(response, "evidence-comparison"))["href"])
    assert attributes(by_id(compared, "production-link"))["href"] == page_of(second, against=1)
    listed = client.get(at(case, "attempt_list"))
    assert attributes(by_id(listed, "production-2"))["href"] == page_of(second).rstrip("?")


def test_files(client, case):
    first, second = attempts(case)
    run_now(first)
    run_now(second)
    third = make_attempt(
        case, make_endpoint(case.owner, engine="solr", url="http://127.0.0.1:8983/solr/a"), template="q=#$query##&qf=a"
    )
    deployed = client.get(page_of(third, "deploy.json"))
    assert deployed["Content-Disposition"].endswith('attempt-3.json"')
    assert b'"qf": "a"' in deployed.content
    difference = client.get(page_of(third, "difference.diff", against=1)).content.decode()
    assert difference.startswith("--- attempt 1\n+++ attempt 3\n")
    assert client.get(page_of(second, "difference.diff")).status_code == 302  # the same text
    assert client.get(page_of(third, "evidence.md", against=1)).status_code == 302  # not run
    assert client.get(page_of(second, "evidence.md")).status_code == 302  # being computed
    evidence = client.get(page_of(second, "evidence.md")).content.decode()
    assert evidence == Proposal(second, first, site="http://testserver").evidence


def test_an_attempt_that_cannot_be_rendered_has_a_page(client, case):
    attempt = make_attempt(case)
    attempt.template = '{"a": ##b##}'
    attempt.save()
    response = client.get(page_of(attempt))
    assert response.status_code == 200
    assert "“b”" in words(by_id(response, "content"))
    assert client.get(page_of(attempt, "deploy.json")).status_code == 302
    assert client.get(f"/cases/{case.pk}/attempts/all/9/production/").status_code == 404
