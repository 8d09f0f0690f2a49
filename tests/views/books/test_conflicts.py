"""The page of the documents that raters disagree on, and the decisions made there."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from relevancy import books, judging, queries, ratings
from relevancy.models import Rating
from tests.factories import make_user, query_of, rate_all, remap
from tests.views.workbench.example_cases import SCRIPT, attributes, elements, make_workbench_case, tree

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(people, team, script):
    case = make_workbench_case(people, team, 2, {"query 1": {"a": 3, "b": 2}, "query 2": {"a": 3}})
    rate_all(case, {"query 1": {"a": 0, "b": 1}, "query 2": {"a": 3}}, people["rater"])
    return case


def at(case):
    return reverse("book_conflicts", args=[case.book_id])


def decide_at(case, text="query 1"):
    return reverse("book_adjudicate", args=[case.book_id, query_of(case, text).pk])


def shown(response):
    return [
        (row["conflict"].query.text, row["conflict"].doc_id, row["conflict"].difference)
        for row in response.context["rows"]
    ]


def test_conflicts_are_listed_for_those_who_see_the_book(sign_in, case):
    response = sign_in("viewer").get(at(case))
    assert shown(response) == [("query 1", "a", 3), ("query 1", "b", 1)]
    assert decide_at(case) not in response.content.decode()
    assert decide_at(case) in sign_in("editor").get(at(case)).content.decode()
    assert shown(sign_in("viewer").get(at(case), {"difference": "2", "state": "all"})) == [("query 1", "a", 3)]
    assert sign_in("viewer").get(at(case), {"difference": "x", "state": "?"}).status_code == 200
    assert at(case) in sign_in("viewer").get(reverse("book", args=[case.book_id])).content.decode()


def test_a_decision_is_made_and_taken_back(sign_in, people, case):
    client = sign_in("editor")
    response = client.post(decide_at(case), {"doc_id": "a", "value": "2"}, headers={"HX-Request": "true"})
    assert 'data-decided="2"' in response.content.decode()
    assert Rating.objects.get(is_adjudication=True).rater == people["editor"]
    assert shown(client.get(at(case))) == [("query 1", "b", 1)]
    page = client.get(at(case), {"difference": "1", "state": "decided"})
    assert shown(page) == [("query 1", "a", 3)]
    response = client.post(decide_at(case), {"doc_id": "a", "value": ""})
    assert (response.status_code, response.url) == (302, at(case))
    assert not Rating.objects.filter(is_adjudication=True).exists()


def test_without_javascript_the_list_stays_as_it_is(sign_in, case):
    address = f"http://testserver{at(case)}?difference=1&state=all"
    response = sign_in("editor").post(decide_at(case), {"doc_id": "a", "value": "2"}, headers={"Referer": address})
    assert response.url == address
    elsewhere = f"http://example.org{at(case)}"
    response = sign_in("editor").post(decide_at(case), {"doc_id": "a", "value": "1"}, headers={"Referer": elsewhere})
    assert response.url == at(case)


def test_a_conflict_is_shown_as_the_document_that_was_judged(sign_in, people, case):
    judging.build_judging_queue(book=case.book)
    query = query_of(case, "query 1")
    queries.describe(query=query, information_need="All of *Star Wars*")
    ratings.rate(query=query, doc_id="a", value=0, by=people["rater"], note="Only the word")
    books.change_book(book=case.book, guidelines="Judge **strictly**")
    row = sign_in("viewer").get(at(case)).context["rows"][0]
    page = sign_in("viewer").get(at(case)).content.decode()
    place = case.case_queries.get(query=query)
    assert row["document"].result.display.title == row["title"]
    for text in ("<em>Star Wars</em>", "Only the word", "<strong>strictly</strong>", "Rater", f"?open={place.pk}"):
        assert text in page
    assert f"{reverse('document', args=[case.pk, place.pk])}?doc_id=a" in page


def test_blind_raters_see_conflicts_about_what_they_have_judged(sign_in, people, team, case):
    case.book.teams.add(team)
    rate_all(case, {"query 2": {"b": 0}}, people["owner"])
    rate_all(case, {"query 2": {"b": 3}}, people["editor"])
    assert shown(sign_in("rater").get(at(case))) == [("query 1", "a", 3), ("query 1", "b", 1)]
    assert len(shown(sign_in("viewer").get(at(case)))) == 3
    books.change_book(book=case.book, raters_are_blind=False)
    assert len(shown(sign_in("rater").get(at(case)))) == 3


def test_z_takes_the_last_decision_back_and_then_the_one_before(sign_in, people, case):
    client = sign_in("editor")
    url = reverse("book_undo_decision", args=[case.book_id])
    for doc_id in "ab":
        client.post(decide_at(case), {"doc_id": doc_id, "value": "2"}, headers={"HX-Request": "true"})
    assert "data-key-undo" in client.get(at(case), {"difference": "0", "state": "all"}).content.decode()
    answer = client.post(url, headers={"HX-Request": "true"}).content.decode()
    assert "hx-swap-oob" in answer and "data-decided" not in answer
    assert Rating.objects.get(is_adjudication=True).doc_id == "a"
    assert client.post(url).url == at(case)
    assert not Rating.objects.filter(is_adjudication=True).exists()
    assert client.post(url, headers={"HX-Request": "true"}).status_code == 409


def test_a_list_without_conflicts_says_why_and_what_to_do(sign_in, people, team, case):
    lonely = make_workbench_case(people, team, 1, {"query 1": {"a": 3}})
    assert reverse("book_judging", args=[lonely.book_id]) in sign_in("editor").get(at(lonely)).content.decode()
    viewed = sign_in("viewer").get(at(lonely))
    assert (viewed.context["empty"].title, viewed.context["empty"].ways) == ("No document has two ratings yet", [])
    filtered = sign_in("viewer").get(at(case), {"difference": "9", "state": "open"})
    assert filtered.context["empty"].title == "No such document"
    for doc_id in "ab":
        judging.adjudicate(query=query_of(case, "query 1"), doc_id=doc_id, value=2, by=people["editor"])
    assert sign_in("viewer").get(at(case)).context["empty"].title == "Nothing to decide"
    decided = sign_in("viewer").get(reverse("book_decided", args=[case.book_id]))
    assert [row["conflict"].doc_id for row in decided.context["rows"]] == ["a", "b"]


@pytest.mark.parametrize(
    "wrong", [{"doc_id": "a", "value": "9"}, {"doc_id": "", "value": "1"}, {"doc_id": "a", "value": "x"}]
)
def test_wrong_decisions_are_refused(sign_in, case, wrong):
    response = sign_in("editor").post(decide_at(case), wrong, headers={"HX-Request": "true"})
    assert response.status_code == 409
    assert not Rating.objects.filter(is_adjudication=True).exists()


def test_decisions_on_a_former_scale_are_refused(sign_in, case):
    client = sign_in("editor")
    keys = {attributes(field)["value"] for field in elements(tree(client.get(at(case))), _name="input", name="scale")}
    assert keys == {case.book.scale_key}
    remap(case)
    response = client.post(
        decide_at(case), {"doc_id": "a", "value": "1", "scale": keys.pop()}, headers={"HX-Request": "true"}
    )
    assert (response.status_code, response.headers["HX-Refresh"]) == (409, "true")
    assert not Rating.objects.filter(is_adjudication=True).exists()


def test_queries_of_other_books_are_not_found(sign_in, people, team, case):
    other = make_workbench_case(people, team, 1, {})
    url = reverse("book_adjudicate", args=[case.book_id, query_of(other, "query 1").pk])
    assert sign_in("editor").post(url, {"doc_id": "a", "value": "1"}).status_code == 404


def test_decisions_are_marked_where_ratings_are_shown(sign_in, people, case):
    judging.adjudicate(query=query_of(case, "query 1"), doc_id="a", value=2, by=people["editor"])
    case_query = case.case_queries.get(query__text="query 1")
    client = sign_in("editor")
    for url in (
        reverse("query", args=[case.pk, case_query.pk]),
        reverse("document", args=[case.pk, case_query.pk]) + "?doc_id=a",
    ):
        page = client.get(url, headers={"HX-Request": "true"}).content.decode()
        assert page.count('class="decision"') == 1, url
    book = client.get(reverse("book", args=[case.book_id]))
    assert book.context["decided"] == 1


def test_all_ratings_are_downloaded(sign_in, people, case):
    judging.adjudicate(query=query_of(case, "query 1"), doc_id="a", value=2, by=people["editor"])
    response = sign_in("viewer").get(reverse("book_ratings_csv", args=[case.book_id]))
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert "attachment" in response["Content-Disposition"]
    assert "query 1,a,2,Editor,Rater,rated,0," in b"".join(response.streaming_content).decode()


def test_hostile_document_ids_are_shown_and_not_obeyed(sign_in, people, case):
    rate_all(case, {"query 2": {SCRIPT: 3}}, people["rater"])
    rate_all(case, {"query 2": {SCRIPT: 0}}, people["editor"])
    client = sign_in("editor")
    assert SCRIPT not in client.get(at(case)).content.decode()
    response = client.post(decide_at(case, "query 2"), {"doc_id": SCRIPT, "value": "1"}, headers={"HX-Request": "true"})
    assert SCRIPT not in response.content.decode()


def test_statements_grow_with_the_queries_of_a_page_only(sign_in, people, case):
    client = sign_in("editor")

    def count():
        with CaptureQueriesContext(connection) as captured:
            client.get(at(case), {"difference": "0", "state": "all"})
        return len(captured)

    count()  # what the first request of a session reads besides
    before = count()
    for _ in range(3):
        rate_all(case, {"query 1": {f"d{number}": 1 for number in range(15)}}, make_user())
    assert count() == before
