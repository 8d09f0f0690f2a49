"""Public links on the pages: created once visible, withdrawn, and what they show."""

import re
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from relevancy import cases, ratings, scores
from relevancy.models import CaseScore, QueryScore
from relevancy.optional.public_links import public_links
from relevancy.optional.public_links.models import PublicLink
from tests.factories import make_attempt, make_case, make_endpoint, query_of, run_now

pytestmark = pytest.mark.usefixtures("script")


@pytest.fixture
def case(people, team):
    """A case with two queries, a run and a rating by the team's rater; its endpoint has an address and credentials."""
    case = make_case(["laptop", "<b>phone</b>"], {"laptop": {"a": 3}}, owner=people["admin"])
    cases.share(case=case, team=team)
    run_now(make_attempt(case, make_endpoint(people["admin"])))
    ratings.rate(query=query_of(case, "laptop"), doc_id="a", value=1, by=people["rater"])
    cases.annotations.add(case=case, run=case.runs.get(), text="A secret note", by=people["admin"])
    scores.rescore_run(case.runs.get())
    return case


@pytest.fixture
def link(case):
    """The path of a public link to the case."""
    _, token = public_links.create(case=case, by=case.owner, days=7)
    return f"/public/{token}/"


def test_owner_creates_a_link_and_sees_it_once(sign_in, client, case):
    owner = sign_in("owner")
    page = owner.post(f"/cases/{case.pk}/public-links/", {"days": "30"}).content.decode()
    address = re.search(r'id="new-link"[^>]*value="([^"]+)"', page)
    assert address and "http://testserver/public/" in address[1]
    assert address[1].rpartition("/public/")[2] not in owner.get(f"/cases/{case.pk}/share/").content.decode()
    client.logout()
    assert client.get(address[1]).status_code == 200
    owner = sign_in("owner")
    owner.post(f"/cases/{case.pk}/public-links/{PublicLink.objects.get().pk}/withdraw/")
    assert "public-link-list" not in owner.get(f"/cases/{case.pk}/share/").content.decode()
    client.logout()
    assert client.get(address[1]).status_code == 404


def test_days_that_are_not_offered_are_refused(sign_in, case):
    response = sign_in("owner").post(f"/cases/{case.pk}/public-links/", {"days": "4000"})
    assert response.status_code == 422
    assert not PublicLink.objects.exists()


def test_link_shows_scores_history_and_results(client, case, link):
    page = client.get(link)
    text = page.content.decode()
    assert page.context["public"].score == CaseScore.objects.get()
    assert [row.query.text for row in page.context["page"]] == ["laptop", "<b>phone</b>"]
    assert 'class="chart"' in text and "&lt;b&gt;phone&lt;/b&gt;" in text
    results = client.get(re.search(r'href="(/public/[^"]+/queries/\d+/)"', text)[1])
    assert [result.rank for result in results.context["results"]] == [
        rank for rank, _ in enumerate(case.runs.get().rankings.get(query__text="laptop").hits, 1)
    ]
    assert results.context["results"][0].grade == 1, "The newest rating counts."


def test_pages_name_no_person_and_no_endpoint(client, case, link, people):
    endpoint = case.attempts.get().endpoint
    text = client.get(link).content.decode()
    for case_query in case.case_queries.all():
        text += client.get(f"{link}queries/{case_query.pk}/").content.decode()
    text = unescape(text)
    hidden = [
        endpoint.url,
        endpoint.name,
        "A secret note",
        f"/cases/{case.pk}/",
    ]
    hidden += [word for user in people.values() for word in (user.name, user.email)]
    assert [word for word in hidden if word and word in text] == []
    assert "<form" not in "".join(re.findall(r"(?s)<main.*?</main>", text))


def test_pages_are_not_indexed_cached_or_referred_to(client, case, link):
    for address in (link, f"{link}queries/{case.case_queries.first().pk}/", "/public/unknown/"):
        response = client.get(address)
        assert response["X-Robots-Tag"] == "noindex, nofollow"
        assert response["Referrer-Policy"] == "no-referrer"
        assert "no-store" in response["Cache-Control"]
        assert '<meta name="robots" content="noindex, nofollow">' in response.content.decode()


def test_nothing_can_be_written_with_a_link(client, case, link):
    addresses = (link, f"{link}queries/{case.case_queries.first().pk}/")
    for address in addresses:
        for method in ("post", "put", "patch", "delete"):
            assert getattr(client, method)(address, {"value": "3", "doc_id": "a"}).status_code == 405
    QueryScore.objects.update(revision=0)  # stale: the workbench would compute them
    with CaptureQueriesContext(connection) as statements:
        for address in addresses:
            assert client.get(address).status_code == 200
    writes = [item["sql"] for item in statements if not item["sql"].lstrip(" \n(").upper().startswith("SELECT")]
    assert writes == []


def test_query_of_another_case_is_not_shown(client, case, link, people):
    other = make_case(["secret"], owner=people["stranger"])
    response = client.get(f"{link}queries/{other.case_queries.get().pk}/")
    assert response.status_code == 404
    assert "secret" not in response.content.decode()


def test_list_needs_the_same_statements_for_many_queries(client, people, django_assert_max_num_queries):
    case = make_case(60, owner=people["admin"])
    run_now(make_attempt(case))
    _, token = public_links.create(case=case, by=case.owner, days=7)
    with django_assert_max_num_queries(12):
        page = client.get(f"/public/{token}/?page=2")
    assert len(page.context["page"]) == 10


def test_a_public_link_shows_no_activity(client, people, case):
    _, token = public_links.create(case=case, by=people["admin"], days=1)
    content = client.get(f"/public/{token}/").content.decode()
    assert case.name in content
    assert "ctivity" not in content
