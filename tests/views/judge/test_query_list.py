"""The page with the documents of one query, and what a judgment on it brings."""

import pytest
from django.urls import reverse

from relevancy import judging, ratings
from relevancy.models import JudgingPair, Rating, Verdict
from tests.factories import query_of, remap
from tests.views.workbench.example_cases import HTMX, attributes, by_id, elements, make_workbench_case, tree

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(people, team, script):
    """Two queries with three documents each, on the scale 0–3; the admin has rated one document, and two ratings are wanted."""
    case = make_workbench_case(people, team, 2, {"query 1": {"a": 3}})
    judging.set_judging(book=case.book, depth=10, ratings_per_pair=2, order="query")
    judging.build_judging_queue(book=case.book)
    return case


def url(case, name="judge_list", **query):
    return reverse(name, args=[case.book_id], query=query or None)


def query_1(case):
    return query_of(case, "query 1")


def send(client, case, doc_id, headers=None, **fields):
    address = reverse("judge_list_rate", args=[case.book_id, query_1(case).pk])
    return client.post(address, {"doc_id": doc_id, **fields}, headers=headers)


def own(people, doc_id):
    return Rating.objects.filter(rater=people["rater"], doc_id=doc_id).values_list("verdict", "value", "note").first()


def test_the_list_has_all_documents_of_the_query_and_hides_what_could_bias(sign_in, people, case):
    client = sign_in("rater")
    assert f'href="{url(case)}"' in client.get(url(case, "judge")).content.decode()
    response = client.get(url(case, query=query_1(case).pk))
    rows = elements(by_id(response, "documents"), _name="li")
    assert len(rows) == 3
    assert {attributes(row)["data-unrated"] for row in rows} == {"1"}
    page = response.content.decode()
    assert "Admin" not in page
    assert "other-judgments" not in page
    assert JudgingPair.objects.filter(claimed_by=people["rater"]).count() == 3


def test_a_judgment_shows_the_ratings_of_others_and_what_is_left(sign_in, people, case):
    client = sign_in("rater")
    client.get(url(case, query=query_1(case).pk))
    response = send(client, case, "a", headers=HTMX, value="1")
    assert own(people, "a") == (Verdict.RATED, 1, "")
    page = response.content.decode()
    assert "Admin" in page
    assert 'data-unrated="0"' in page
    assert 'hx-swap-oob="true"' in page
    assert 'data-left="5"' in page
    assert len(elements(tree(response), _name="li", **{"data-key-item": ""})) == 1
    assert JudgingPair.objects.filter(claimed_by=people["rater"]).count() == 2


def test_without_javascript_each_button_leads_back_to_its_document(sign_in, people, case):
    client = sign_in("rater")
    pair = JudgingPair.objects.get(query=query_1(case), doc_id="b")
    response = send(client, case, "b", value="2")
    assert response.status_code == 302
    assert response["Location"] == f"{url(case, query=query_1(case).pk)}#document-{pair.pk}"
    assert own(people, "b") == (Verdict.RATED, 2, "")
    send(client, case, "b", value="")
    assert own(people, "b") is None
    pair.refresh_from_db()
    assert pair.claimed_by == people["rater"]


def test_cannot_judge_keeps_the_note_and_can_be_taken_back(sign_in, people, case):
    client = sign_in("rater")
    ratings.rate(query=query_1(case), doc_id="b", value=1, note="Half of it", by=people["rater"])
    page = send(client, case, "b", headers=HTMX, cannot="The query is not clear").content.decode()
    assert own(people, "b") == (Verdict.CANNOT, None, "The query is not clear\nHalf of it")
    assert "data-cannot" in page
    send(client, case, "b", value="")
    assert own(people, "b") is None


@pytest.mark.parametrize(
    "fields",
    [
        {"value": "4"},
        {"value": "x"},
        {"value": "nan"},
        {"value": "1", "cannot": "The query is not clear"},
        {"cannot": "Because"},
        {"cannot": "As in my note"},
    ],
)
def test_bad_input_is_refused_with_a_message(sign_in, people, case, fields):
    response = send(sign_in("rater"), case, "b", headers=HTMX, **fields)
    assert response.status_code == 409
    assert response.content
    assert own(people, "b") is None


def test_a_grade_of_a_former_scale_is_refused(sign_in, people, case):
    client = sign_in("rater")
    key = case.book.scale_key
    remap(case)
    response = send(client, case, "b", headers=HTMX, value="1", scale=key)
    assert response.status_code == 409
    assert response["HX-Refresh"] == "true"
    assert own(people, "b") is None


def test_next_query_and_then_nothing(sign_in, people, case):
    client = sign_in("rater")
    first = client.get(url(case)).context["query"]
    second = client.get(url(case, after=first.pk)).context["query"]
    assert {first.text, second.text} == {"query 1", "query 2"}
    for query in (first, second):
        for doc_id in "abc":
            judging.judge(query=query, doc_id=doc_id, value=1, by=people["rater"])
    response = client.get(url(case))
    assert response.context["query"] is None
    assert "You have judged everything" in response.content.decode()
    assert "Take the rating back" in client.get(url(case, query=first.pk)).content.decode()


def test_documents_on_the_pages_of_others_are_counted(sign_in, people, case):
    judging.claim_query(queue=judging.judging_queue(case.book), query=query_1(case), by=people["editor"])
    pair = JudgingPair.objects.get(query=query_1(case), doc_id="c")
    JudgingPair.objects.filter(pk=pair.pk).update(claimed_by=None, claimed_until=None)
    page = sign_in("rater").get(url(case, query=query_1(case).pk)).content.decode()
    assert "2 further documents are on the pages of other raters" in page


def test_statements_do_not_grow_with_the_list(sign_in, case, django_assert_max_num_queries):
    client = sign_in("rater")
    client.get(url(case))
    with django_assert_max_num_queries(40):
        client.get(url(case))
    with django_assert_max_num_queries(60):
        send(client, case, "b", headers=HTMX, value="1")


def test_undo_leads_back_to_the_document_in_its_list(sign_in, people, case):
    client = sign_in("rater")
    page = client.get(url(case, "judge_list"))
    card = page.context["cards"][0]
    rate = reverse("judge_list_rate", args=[case.book_id, card.document.pair.query_id])
    client.post(rate, {"doc_id": card.document.pair.doc_id, "value": "1"})
    undone = client.post(url(case, "judge_undo"), {"list": "1"})
    assert undone["Location"].endswith(f"?query={card.document.pair.query_id}#document-{card.document.pair.pk}")
    assert not Rating.objects.filter(rater=people["rater"]).exists()
    assert "data-key-undo" in page.content.decode()
