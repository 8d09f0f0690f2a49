"""The page on the ratings of one rater in a book."""

import pytest
from django.urls import reverse

from relevancy import accounts, hooks, judging, ratings
from relevancy.models import Rating, RatingChange, Verdict
from tests.factories import query_of, rate_all
from tests.views.workbench.example_cases import make_workbench_case

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(people, team, script):
    case = make_workbench_case(people, team, 2, {"query 1": {"a": 3, "b": 1}})
    rate_all(
        case, {"query 1": {"a": 0}, "query 2": {"c": 2}}, accounts.ensure_raters(["Dana"], by=people["admin"])["Dana"]
    )
    return case


def at(case, rater):
    return reverse("book_rater", args=[case.book_id, rater.pk])


@pytest.fixture
def dana(case):
    return accounts.ensure_raters(["Dana"], by=case.owner)["Dana"]


def test_editors_come_from_the_book(sign_in, case, dana):
    page = reverse("book", args=[case.book_id])
    assert at(case, dana) in sign_in("editor").get(page).content.decode()
    assert at(case, dana) not in sign_in("rater").get(page).content.decode()


def test_ratings_are_listed_and_filtered(sign_in, people, case, dana):
    ratings.rate(query=query_of(case, "query 2"), doc_id="a", value=1, by=people["rater"], note="Maybe")
    client = sign_in("editor")

    def listed(rater, **wanted):
        return [
            (rating.query.text, rating.doc_id) for rating, *_ in client.get(at(case, rater), wanted).context["rows"]
        ]

    assert sorted(listed(dana)) == [("query 1", "a"), ("query 2", "c")]
    assert listed(dana, text="query 2") == [("query 2", "c")]
    assert listed(dana, grade="0") == [("query 1", "a")]
    assert listed(dana, grade="later") == []
    assert len(listed(dana, grade="x")) == 2
    place = case.case_queries.get(query__text="query 2")
    page = client.get(at(case, people["rater"])).content.decode()
    assert "Maybe" in page and f"?open={place.pk}" in page
    assert page.count('name="action"') == 1  # one press for each thing that can be done, and nothing to choose before
    assert 'type="radio"' not in page


def test_all_ratings_are_removed_after_a_preview(sign_in, case, dana):
    client = sign_in("editor")
    response = client.get(at(case, dana))
    assert "preview" not in response.context
    assert [value for value, _ in response.context["form"].fields["action"].choices] == ["remove", "assign"]
    response = client.get(at(case, dana), {"action": "remove"})
    assert response.context["preview"].ratings == 2
    assert "2 ratings by Dana of 2 documents for 2 queries" in response.content.decode()
    assert 'id="case-scores"' in response.content.decode()
    assert Rating.objects.filter(rater=dana).count() == 2
    response = client.post(at(case, dana), {"action": "remove", "seen": "2"})
    assert (response.status_code, response.url) == (302, reverse("book_raters", args=[case.book_id]))
    assert not Rating.objects.filter(rater=dana).exists()
    assert client.get(at(case, dana)).status_code == 404


def test_ratings_that_came_after_the_preview_are_not_removed(sign_in, case, dana):
    response = sign_in("editor").post(at(case, dana), {"action": "remove", "seen": "1"})
    assert (response.status_code, response.url) == (302, at(case, dana))
    assert Rating.objects.filter(rater=dana).count() == 2


def test_a_verdict_is_reset(sign_in, people, case):
    rater = people["rater"]
    judging.judge(query=query_of(case, "query 2"), doc_id="a", verdict=Verdict.LATER, by=rater)
    client = sign_in("editor")
    page = client.get(reverse("book", args=[case.book_id])).content.decode()
    assert at(case, rater) in page
    assert 'data-later="1"' in page
    response = client.get(at(case, rater), {"action": "later"})
    assert "1 answer “later” by" in response.content.decode()
    assert [value for value, _ in response.context["form"].fields["action"].choices] == ["remove", "later"]
    client.post(at(case, rater), {"action": "later", "seen": "1"})
    assert RatingChange.objects.filter(rater=rater, old_verdict=Verdict.LATER, by=people["editor"]).count() == 1
    assert not Rating.objects.filter(rater=rater).exists()


def test_ratings_are_given_to_a_person(sign_in, people, case, dana):
    client, owner = sign_in("editor"), people["rater"]
    rate_all(case, {"query 1": {"a": 2}}, owner)
    assert client.get(at(case, dana), {"action": "assign"}).context["form"].errors.keys() == {"person"}
    foreign = {"action": "assign", "person": people["stranger"].pk}
    assert client.get(at(case, dana), foreign).context["form"].errors.keys() == {"person"}
    assert client.post(at(case, dana), foreign | {"seen": "2"}).status_code == 422
    response = client.get(at(case, dana), {"action": "assign", "person": owner.pk})
    assert (response.context["preview"].ratings, response.context["preview"].left_out) == (2, 1)
    assert "1 rating is removed" in response.content.decode()
    client.post(at(case, dana), {"action": "assign", "person": owner.pk, "seen": "2"})
    assert list(Rating.objects.filter(rater=owner).order_by("doc_id").values_list("doc_id", "value")) == [
        ("a", 2),
        ("c", 2),
    ]
    assert not Rating.objects.filter(rater=dana).exists()


def test_ratings_by_a_machine_are_removed_where_they_were_let_count(sign_in, case, monkeypatch):
    machine = accounts.ensure_machine("robot")
    rate_all(case, {"query 2": {"b": 1}}, machine)
    client = sign_in("editor")
    with monkeypatch.context() as patched:
        patched.setattr(hooks, "links_at", lambda place, shown: [hooks.Link("Models", "/models/", "models-link")])
        page = client.get(at(case, machine)).content.decode()
        assert 'id="machine"' in page
        assert 'id="models-link"' in page
        assert 'id="rater-form"' not in page
        assert client.post(at(case, machine), {"action": "remove", "seen": "1"}).status_code == 422


def test_ratings_by_a_machine_whose_app_the_site_has_left_out_are_removed_here(sign_in, case):
    machine = accounts.ensure_machine("robot")
    rate_all(case, {"query 2": {"b": 1}}, machine)
    client = sign_in("editor")
    assert 'id="machine"' not in client.get(at(case, machine)).content.decode()
    client.post(at(case, machine), {"action": "remove", "seen": "1"})
    assert not Rating.objects.filter(rater=machine).exists()
