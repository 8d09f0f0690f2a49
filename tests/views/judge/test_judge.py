"""The page for judging one document at a time, and what its script gets."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from relevancy import books, judging, ratings
from relevancy.models import Book, JudgingPair, Rating, RatingChange, RepeatedPair, Verdict
from tests.factories import query_of, remap, set_hits, set_rule
from tests.views.workbench.example_cases import HTMX, SCRIPT, make_workbench_case

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(people, team, script):
    """Two queries with three documents each, on the scale 0–3, of which one rating is there: that of the admin."""
    return make_workbench_case(people, team, 2, {"query 1": {"a": 3}})


def url(case, name="judge"):
    return reverse(name, args=[case.book_id])


def shown(response):
    """The documents on the page, as "query/document", the first one first."""
    return [f"{card.document.query.text[-1]}{card.document.pair.doc_id}" for card in response.context["cards"]]


def send(client, case, card="", headers=None, **fields):
    """Posts a judgment of a document such as "1b"."""
    data = {"query": query_of(case, f"query {card[0]}").pk, "doc_id": card[1], "note": "", **fields}
    return client.post(url(case, "judge_rate"), data, headers=headers)


def test_page_shows_a_document_and_has_the_next_ones(sign_in, case):
    response = sign_in("rater").get(url(case))
    page = response.content.decode()
    assert sorted(shown(response)) == sorted(set(shown(response)))
    assert len(shown(response)) == 3
    assert "1a" not in shown(response)  # rated by the admin, and one rating is wanted
    assert page.count("data-card=") == 3
    assert page.count("<template data-next>") == 2
    assert 'data-left="5"' in page


def test_page_hides_ranks_and_ratings_of_others_until_the_rater_has_rated(sign_in, people, case):
    judging.set_judging(book=case.book, depth=10, ratings_per_pair=3, order="rank")
    client = sign_in("rater")
    client.get(url(case))
    pair = JudgingPair.objects.get(query__text="query 1", doc_id="a")
    page = client.get(url(case), {"pair": pair.pk}).content.decode()
    assert "other-judgments" not in page
    assert "Admin" not in page
    send(client, case, "1a", grade="1")
    page = client.get(url(case), {"pair": pair.pk}).content.decode()
    assert "other-judgments" in page
    assert "Admin" in page
    assert page.count('aria-pressed="true"') == 1


def test_page_shows_the_ratings_of_others_at_once_if_raters_are_not_blind(sign_in, people, case):
    judging.set_judging(book=case.book, ratings_per_pair=3)
    books.change_book(book=case.book, raters_are_blind=False, by=people["owner"])
    client = sign_in("rater")
    client.get(url(case))
    pair = JudgingPair.objects.get(query__text="query 1", doc_id="a")
    assert "other-judgments" in client.get(url(case), {"pair": pair.pk}).content.decode()


def test_page_says_how_far_the_rater_is_with_the_query(sign_in, case):
    client = sign_in("rater")
    first, *_ = shown(client.get(url(case)))
    assert client.get(url(case)).context["cards"][0].query_count == ((1, 3) if first[0] == "1" else (0, 3))
    page = send(client, case, first, HTMX, grade="1").content.decode()
    query = query_of(case, f"query {first[0]}").pk
    done = 2 if first[0] == "1" else 1
    assert f'<template data-query-count="{query}">{done} of 3 rated for this query' in re.sub(r">\s+", ">", page)


def test_grades_have_the_phrases_of_the_scale_or_at_its_ends(sign_in, case):
    def labels():
        return [choice.label for choice in sign_in("rater").get(url(case)).context["choices"]]

    assert labels() == ["Not relevant", "", "", "Perfect"]
    Book.objects.filter(pk=case.book_id).update(scale=[[0, "Poor"], [1, ""], [2, ""], [3, "Great"]])
    assert labels() == ["Poor", "", "", "Great"]


def test_page_leads_back_to_the_book(sign_in, case):
    page = sign_in("rater").get(url(case)).content.decode()
    assert f'href="{reverse("book", args=[case.book_id])}">{case.book.name}</a>' in page


def test_page_waits_for_the_documents_by_itself(sign_in, case, monkeypatch):
    """G7: opened before anything was chosen."""
    monkeypatch.setattr("relevancy.tasks.send", lambda task, pk, **_: None)
    page = sign_in("rater").get(url(case)).content.decode()
    assert "data-judge-reload" in page
    assert '<progress class="progress" aria-label="The documents are being chosen">' in page
    assert 'hx-trigger="load delay:2s"' in sign_in("rater").get(url(case, "judge_list")).content.decode()


def test_page_shows_short_fields_and_names_those_that_are_bare_numbers(sign_in, case):
    run = case.runs.get()
    run.config["fields"] = "id:id title:title genre year"
    run.save(update_fields=["config"])
    hits = [["b", 1.0, {"id": "b", "title": "Alien", "genre": "Horror", "year": 1979}]]
    set_hits(run.rankings.all(), hits)
    page = sign_in("rater").get(url(case)).content.decode()
    assert "Horror" in page
    assert '<span class="field-name">year</span>' in page
    assert "1979" in page


def test_rate_without_javascript_leads_to_the_next_document(sign_in, people, case):
    client = sign_in("rater")
    first, second, *_ = shown(client.get(url(case)))
    response = send(client, case, first, grade="2", note="Close")
    assert (response.status_code, response.url) == (302, url(case))
    rating = Rating.objects.get(rater=people["rater"])
    assert (rating.doc_id, rating.value, rating.note) == (first[1], 2, "Close")
    response = client.get(url(case))
    assert shown(response)[0] == second
    assert [card.document.title for card in response.context["last"]] == [first[1]]


def test_rate_with_the_script_brings_the_next_documents_only(sign_in, case):
    client = sign_in("rater")
    cards = [card.document.pair.pk for card in client.get(url(case)).context["cards"]]
    first = shown(client.get(url(case)))[0]
    response = send(client, case, first, HTMX, grade="0", have=",".join(map(str, cards[1:])))
    page = response.content.decode()
    assert response.status_code == 200
    assert page.count("data-card=") == 1
    assert all(f'data-card="{pk}"' not in page for pk in cards)
    assert 'data-left="4"' in page


def test_cannot_judge_keeps_the_reason_in_the_note(sign_in, people, case):
    client = sign_in("rater")
    first = shown(client.get(url(case)))[0]
    send(client, case, first, cannot="I do not know the subject", note="Opera")
    rating = Rating.objects.get(rater=people["rater"])
    assert (rating.verdict, rating.value, rating.note) == (Verdict.CANNOT, None, "I do not know the subject\nOpera")
    assert first not in shown(client.get(url(case)))


def test_later_comes_last(sign_in, case):
    client = sign_in("rater")
    first = shown(client.get(url(case)))[0]
    send(client, case, first, later="1")
    response = client.get(url(case))
    assert first not in shown(response)
    assert response.context["progress"].postponed == 1


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"grade": "7"},
        {"grade": "nan"},
        {"grade": "1", "later": "1"},
        {"cannot": "As in my note"},
        {"cannot": "No such reason"},
        {"grade": "1", "doc_id": ""},
        {"grade": "1", "doc_id": "a\0"},
        {"grade": "1", "note": "x" * 5001},
        {"grade": "1", "have": "a,b"},
    ],
)
def test_bad_input_is_refused_with_a_message(sign_in, people, case, fields):
    client = sign_in("rater")
    response = send(client, case, "1b", HTMX, **fields)
    assert response.status_code == 409
    assert len(response.content) > 10
    assert not RatingChange.objects.filter(by=people["rater"]).exists()


def test_a_document_that_left_the_queue_can_still_be_rated(sign_in, people, case):
    """Its page may have been open for long; the rating must not be lost."""
    client = sign_in("rater")
    first = shown(client.get(url(case)))[0]
    JudgingPair.objects.all().delete()
    assert send(client, case, first, HTMX, grade="1").status_code == 200
    assert Rating.objects.filter(rater=people["rater"], doc_id=first[1]).exists()


def test_a_query_of_another_book_is_not_found(sign_in, people, team, case):
    other = make_workbench_case(people, team, 1, {}, run=False)
    data = {"query": query_of(other, "query 1").pk, "doc_id": "a", "grade": "1"}
    assert sign_in("rater").post(url(case, "judge_rate"), data).status_code == 404


def test_undo_shows_the_document_again(sign_in, people, case):
    client = sign_in("rater")
    first = shown(client.get(url(case)))[0]
    send(client, case, first, grade="1")
    response = client.post(url(case, "judge_undo"), follow=True)
    assert not Rating.objects.filter(rater=people["rater"]).exists()
    assert shown(response)[0] == first
    response = client.post(url(case, "judge_undo"), follow=True)
    assert len(list(response.context["messages"])) == 1


def test_pause_frees_the_documents_and_shows_where_to_go_on(sign_in, people, case):
    client = sign_in("rater")
    client.get(url(case))
    assert JudgingPair.objects.filter(claimed_by=people["rater"]).count() == 3
    assert "Your ratings are saved" in client.get(url(case, "judge_pause")).content.decode()
    assert JudgingPair.objects.filter(claimed_by=people["rater"]).count() == 3  # only the button frees them
    send(client, case, "1b", grade="1")
    page = client.post(url(case, "judge_pause"), follow=True).content.decode()
    assert not JudgingPair.objects.exclude(claimed_by=None).exists()
    assert "You judged 1 document in this sitting" in " ".join(page.split())
    assert 'data-left="4"' in page
    assert f'href="{url(case)}"' in page


def test_pace_is_shown_with_what_is_left(sign_in, people, case):
    query, now = query_of(case, "query 1"), timezone.now()
    RatingChange.objects.bulk_create(
        RatingChange(
            query=query,
            doc_id=f"d{number}",
            rater=people["rater"],
            by=people["rater"],
            new_verdict="rated",
            new_value=1,
            at=now - timedelta(seconds=30 * number),
        )
        for number in range(10, 0, -1)
    )
    client = sign_in("rater")
    assert "120 an hour, about 2 min left" in client.get(url(case)).content.decode()
    assert 'id="judge-pace"' in send(client, case, "1b", headers=HTMX, grade="1").content.decode()


def test_back_leads_to_the_documents_judged_before(sign_in, case):
    client = sign_in("rater")
    pairs = []
    for _ in range(2):
        card = client.get(url(case)).context["cards"][0]
        pairs.insert(0, card.document.pair)
        send(client, case, f"{card.document.query.text[-1]}{card.document.pair.doc_id}", grade="1")
    assert client.get(url(case)).context["back_pair"] == pairs[0]
    assert client.get(url(case), {"pair": pairs[0].pk}).context["back_pair"] == pairs[1]
    assert client.get(url(case), {"pair": pairs[1].pk}).context["back_pair"] is None


def test_without_a_run_the_page_names_the_case_to_run(sign_in, people, team, script):
    case = make_workbench_case(people, team, 2, {}, run=False)
    response = sign_in("rater").get(url(case))
    assert response.context["cards"] == []
    assert reverse("case", args=[case.pk]) in response.content.decode()


def test_everything_judged_and_everything_claimed_are_different(sign_in, people, case):
    client = sign_in("rater")
    for _ in range(5):
        send(client, case, shown(client.get(url(case)))[0], grade="1")
    response = client.get(url(case))
    assert (response.context["cards"], response.context["progress"].left) == ([], 0)
    judging.set_judging(book=case.book, depth=10, ratings_per_pair=2, order="query")
    judging.build_judging_queue(book=case.book)
    judging.next_pairs(queue=judging.judging_queue(case.book), by=people["owner"], count=9)
    response = client.get(url(case))
    assert (response.context["cards"], response.context["progress"].left) == ([], 1)


def test_hostile_text_is_shown_and_not_obeyed(sign_in, people, case):
    books.change_book(book=case.book, guidelines=f"# Grades\n{SCRIPT}\n[x](javascript:alert(1))")
    set_hits(case.runs.get().rankings.all(), [[SCRIPT, 1.0, {"id": SCRIPT}]])
    judging.set_judging(book=case.book, depth=10, ratings_per_pair=1, order="query")
    page = sign_in("rater").get(url(case)).content.decode()
    assert "alert(&quot;x&quot;)" in page
    assert SCRIPT not in page
    assert "javascript:alert" not in page.replace("(javascript:alert(1))", "")


@pytest.mark.parametrize(
    ("scale", "keys"),
    [
        ([0, 1, 2, 3], ["0", "1", "2", "3"]),
        (list(range(1, 11)), ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0"]),
        ([0, 0.5, 1], ["1", "2", "3"]),
        (list(range(11)), ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0", ""]),
        (list(range(12)), []),
    ],
)
def test_keys_of_grades(sign_in, case, scale, keys):
    Rating.objects.all().delete()
    case.book.scale = [[grade, ""] for grade in scale]
    case.book.relevant_from = scale[-1]
    case.book.save()
    response = sign_in("rater").get(url(case))
    assert [choice.key for choice in response.context["choices"]] == keys


def test_statements_do_not_grow_with_the_book(sign_in, people, team, script, django_assert_max_num_queries):
    case = make_workbench_case(people, team, 30, {})
    client = sign_in("rater")
    client.get(url(case))
    with django_assert_max_num_queries(40):
        first = shown(client.get(url(case)))[0]
    with django_assert_max_num_queries(60):  # PostgreSQL; the tasks that a rating sends run in the request here
        send(client, case, first, HTMX, grade="1")


def test_grade_of_a_former_scale_is_refused_and_the_page_loaded_again(sign_in, people, case):
    client = sign_in("rater")
    scale = client.get(url(case)).context["book"].scale_key
    remap(case)
    response = send(client, case, "1b", grade="1", scale=scale, headers={"HX-Request": "true"})
    assert (response.status_code, response.headers["HX-Refresh"]) == (409, "true")
    assert "has been changed since this page was opened" in client.get(url(case)).content.decode()
    assert send(client, case, "1b", grade="1", scale=scale).status_code == 302
    assert not Rating.objects.filter(rater=people["rater"]).exists()
    scale = client.get(url(case)).context["book"].scale_key
    send(client, case, "1b", grade="1", scale=scale)
    assert Rating.objects.get(rater=people["rater"]).value == 1


def test_other_judgments_of_a_former_scale_are_stored(sign_in, people, case):
    client = sign_in("rater")
    scale = client.get(url(case)).context["book"].scale_key
    remap(case)
    send(client, case, "1b", cannot="I do not know the subject", scale=scale)
    assert Rating.objects.get(rater=people["rater"]).verdict == "cannot"


def test_scale_that_changes_while_the_rating_is_stored_is_noticed(case, people):
    query = case.book.queries.select_related("book").first()
    expected = query.book.scale_key
    remap(case)  # `query.book` is the book as the request has read it
    with pytest.raises(ratings.ScaleChanged):
        judging.judge(query=query, doc_id="a", value=1, by=people["rater"], expected_scale=expected)
    assert not Rating.objects.filter(rater=people["rater"]).exists()


def test_a_rater_who_is_removed_while_judging_stores_nothing_more(sign_in, people, team, case):
    client = sign_in("rater")
    client.get(url(case))  # keeps documents for the rater
    team.memberships.filter(user=people["rater"]).delete()
    assert send(client, case, "1b", grade="3").status_code == 404
    assert client.get(url(case)).status_code == 404
    assert not Rating.objects.filter(rater=people["rater"]).exists()
    assert sign_in("editor").get(url(case)).status_code == 200


def test_rule_may_change_under_a_rater(case):
    before = case.book.scale_key
    set_rule(book=case.book, rule="mean")
    assert Book.objects.get(pk=case.book_id).scale_key == before


def test_a_document_comes_again_as_if_it_were_new(sign_in, people, case):
    judging.set_judging(book=case.book, depth=10, ratings_per_pair=3, order="query", repeat_share=50)
    client = sign_in("rater")
    client.get(url(case))
    send(client, case, "1b", grade="2")
    RepeatedPair.objects.all().delete()
    query = query_of(case, "query 1")
    run = case.runs.get()
    repeated = RepeatedPair.objects.create(query=query, doc_id="b", rater=people["rater"], run=run, wait=0)
    response = client.get(url(case))
    card = response.context["cards"][-1]
    assert card.document.pair.pk == judging.REPEAT_OFFSET + repeated.pk
    assert not card.others
    page = response.content.decode()
    assert f'data-left="{6}"' in page  # five others, and this one
    data = {"query": query.pk, "doc_id": "b", "grade": "0", "note": "", "card": card.document.pair.pk, "have": ""}
    page = client.post(url(case, "judge_rate"), data, headers=HTMX).content.decode()
    assert 'data-left="5"' in page
    assert Rating.objects.get(rater=people["rater"], doc_id="b").value == 2
    repeated.refresh_from_db()
    assert (repeated.first_value, repeated.value) == (2, 0)
    response = client.post(url(case, "judge_undo"))
    assert response.url == f"{url(case)}?pair={card.document.pair.pk}"
    assert client.get(response.url).context["cards"][0].document.pair.pk == card.document.pair.pk
    assert Rating.objects.get(rater=people["rater"], doc_id="b").value == 2


def test_raters_see_the_reference_answer(sign_in, case):
    case.book.queries.update(reference_answer="What a **good** answer says.")
    for name in ("judge", "judge_list"):
        page = sign_in("rater").get(url(case, name)).content.decode()
        assert "What a <strong>good</strong> answer says." in page
        assert "data-reference-answer" in page
