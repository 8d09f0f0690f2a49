"""“Jump to…”: what is found, for whom, and where it leads."""

import pytest
from django.urls import reverse
from django.utils import timezone

from relevancy.models import Case, Scorer
from relevancy.views.jump.pages import MAX_LISTED
from tests.views.factories import make_case

HTMX = {"HTTP_HX_REQUEST": "true"}


def labels(client, text, **headers):
    groups = client.get(reverse("jump"), {"q": text}, **headers).context["groups"]
    return {group.label: [target.text for target in group.targets] for group in groups}


def test_jump_finds_cases_books_queries_and_scorers(sign_in, people):
    case = make_case(people["owner"], "Star films")
    client = sign_in("owner")
    assert labels(client, "STAR", **HTMX) == {
        "Cases": ["Star films"],
        "Books": [case.book.name] if "star" in case.book.name.lower() else ["Star films"],
        "Queries": ["star trek", "star wars"],
    }
    assert "nDCG@10" in labels(client, "ndcg@10", **HTMX)["Scorers"]


@pytest.mark.parametrize(("who", "is_found"), [("viewer", True), ("rater", True), ("owner", True), ("stranger", False)])
def test_jump_finds_only_what_is_visible(sign_in, people, team, who, is_found):
    make_case(people["admin"], "Zebra shared", texts=("zebra crossing",), team=team)
    make_case(people["admin"], "Zebra private", texts=("zebra stripes",))
    groups = labels(sign_in(who), "zebra", **HTMX)
    assert groups.get("Cases", []) == (["Zebra shared"] if is_found else [])
    assert groups.get("Queries", []) == (["zebra crossing"] if is_found else [])


def test_jump_leaves_out_what_was_archived_removed_or_retired(sign_in, people):
    case = make_case(people["owner"], "Archived okapi", texts=("okapi",))
    Case.objects.filter(pk=case.pk).update(archived_at=timezone.now())
    kept = make_case(people["owner"], "Kept", texts=("okapi food", "okapi zoo"))
    kept.case_queries.filter(query__text="okapi zoo").update(removed_at=timezone.now())
    Scorer.objects.create(name="okapi scorer", owner=people["owner"], retired_at=timezone.now())
    groups = labels(sign_in("owner"), "okapi", **HTMX)
    assert groups.get("Cases", []) == []
    assert groups["Queries"] == ["okapi food"]
    assert "Scorers" not in groups


def test_jump_lists_the_best_matches_first_and_says_if_there_are_more(sign_in, people):
    texts = ["a query with emu in it", "emu", "emu food", *(f"one emu {number}" for number in range(MAX_LISTED))]
    make_case(people["owner"], "Birds", texts=texts)
    response = sign_in("owner").get(reverse("jump"), {"q": "emu"}, **HTMX)
    (group,) = response.context["groups"]
    assert [target.text for target in group.targets][:3] == ["emu", "emu food", "a query with emu in it"]
    assert len(group.targets) == MAX_LISTED
    assert group.has_more


def test_jump_opens_a_single_match_without_javascript(sign_in, people):
    case = make_case(people["owner"], "Only one", texts=("quokka",))
    case_query = case.case_queries.get()
    response = sign_in("owner").get(reverse("jump"), {"q": "quokka"})
    assert response.headers["Location"] == reverse("query", args=[case.pk, case_query.pk])


def test_jump_page_lists_several_matches_and_nothing(sign_in, people):
    make_case(people["owner"], "Movies")
    client = sign_in("owner")
    page = client.get(reverse("jump"), {"q": "star"})
    assert [len(group.targets) for group in page.context["groups"]] == [2]
    assert "data-nothing" in client.get(reverse("jump"), {"q": "no such thing"}).content.decode()
    assert "data-nothing" not in client.get(reverse("jump")).content.decode()


@pytest.mark.parametrize("text", ["%", "_", "'", "x" * 5000, "\\"])
def test_jump_takes_any_text_literally(sign_in, people, text):
    make_case(people["owner"], "Movies")
    response = sign_in("owner").get(reverse("jump"), {"q": text}, **HTMX)
    assert response.status_code == 200
    assert response.context["groups"] == []


def test_jump_needs_few_statements(sign_in, people, django_assert_max_num_queries):
    make_case(people["owner"], "Star films")
    client = sign_in("owner")
    with django_assert_max_num_queries(8):
        client.get(reverse("jump"), {"q": "star"}, **HTMX)


def test_every_page_has_the_box_for_signed_in_users(sign_in, client, db):
    assert "data-key-jump" not in client.get("/login/").content.decode()
    assert "data-key-jump" in sign_in("owner").get("/").content.decode()
