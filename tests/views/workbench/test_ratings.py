"""Ratings on the workbench: what is accepted and rejected, and what the response contains."""

import json

import pytest
from django.contrib.messages import get_messages
from django.db import DatabaseError

from relevancy import ratings, scores
from relevancy.models import CaseScore, Rating, RatingChange, Run, ScorerVersion, Verdict
from tests.factories import make_user, query_of, rate_all, remap, run_now, script_of

from .example_cases import (
    HTMX,
    SCRIPT,
    at,
    attributes,
    by_id,
    case_query_of,
    elements,
    head_after,
    make_workbench_case,
    same,
    set_hits,
    start,
    tree,
    words,
)


@pytest.fixture
def case(people, team, script):
    return make_workbench_case(people, team)


def send(client, case, text, doc_id, value, rank=1, headers=HTMX, **more):
    position = at(case, "rate", case_query_of(case, text).pk, rank=rank)
    return client.post(position, {"doc_id": doc_id, "value": value, **more}, headers=headers)


def mine(people, who="rater"):
    return dict(Rating.objects.filter(rater=people[who]).values_list("doc_id", "value"))


@pytest.mark.parametrize(
    ("entered", "kept"),
    [("2", 2), ("0", 0), ("2.5", 2.5), ("1,5", 1.5), (" 3 ", 3), ("3.0", 3), ("0.3333333333", 0.3333333333)],
)
def test_rate_takes_numbers_on_the_scale(sign_in, people, case, entered, kept):
    assert send(sign_in("rater"), case, "query 1", "a", entered).status_code == 200
    assert mine(people) == {"a": kept}


@pytest.mark.parametrize("entered", ["4", "-1", "3.01", "nan", "inf", "1e400", "x", "2;", "1,000.5", SCRIPT, "9" * 400])
def test_rate_refuses_others_and_changes_nothing(sign_in, people, case, entered):
    scores = list(CaseScore.objects.values())
    client = sign_in("rater")
    response = send(client, case, "query 1", "a", entered)
    assert response.status_code == 409
    assert response.headers["Content-Type"].startswith("text/plain")
    assert "scale" in response.content.decode()
    response = send(client, case, "query 1", "a", entered, headers={})
    assert response.status_code == 302
    assert "scale" in str(next(iter(get_messages(response.wsgi_request))))
    assert mine(people) == {}
    assert list(CaseScore.objects.values()) == scores


def test_grades_of_a_former_scale_are_refused_and_the_page_is_loaded_again(sign_in, people, case):
    client = sign_in("rater")
    page = client.get(at(case, "case", open=case_query_of(case, "query 1").pk))
    scales = {attributes(field)["value"] for field in elements(tree(page), _name="input", name="scale")}
    assert scales == {case.book.scale_key}
    (scale,) = scales
    assert send(client, case, "query 1", "a", "3", scale=scale).status_code == 200
    remap(case)
    before = mine(people)
    for response in (
        send(client, case, "query 1", "a", "0", scale=scale),
        send_all(client, case, "query 1", "1", all="1", scale=scale),
    ):
        assert (response.status_code, response.headers["HX-Refresh"]) == (409, "true")
        assert "has been changed since this page was opened" in response.content.decode()
    assert send(client, case, "query 1", "a", "0", headers={}, scale=scale).status_code == 302
    assert mine(people) == before
    case.book.refresh_settings()
    assert send(client, case, "query 1", "a", "0", scale=case.book.scale_key).status_code == 200
    assert mine(people) == {"a": 0}


def test_rate_empty_takes_back(sign_in, people, case):
    client = sign_in("rater")
    send(client, case, "query 1", "a", "2")
    for value in ("", " "):
        assert send(client, case, "query 1", "a", value).status_code == 200
    assert mine(people) == {}
    assert query_of(case, "query 1").ratings.count() == 2  # the owner's stay
    assert [change.new_verdict for change in RatingChange.objects.filter(by=people["rater"])] == ["", "rated"]
    # Without a value at all it is the same.
    send(client, case, "query 1", "a", "2")
    client.post(at(case, "rate", case_query_of(case, "query 1").pk), {"doc_id": "a"}, headers=HTMX)
    assert mine(people) == {}


@pytest.mark.parametrize("doc_id", ['say "hi"', SCRIPT, "it's & <b>", "ä/ö?x=1#y", "  padded", "x" * 500, "日本語 🦊"])
def test_rate_odd_document_ids(sign_in, people, case, doc_id):
    kept = doc_id.strip()
    set_hits(case.runs.get(), "query 1", [kept, "b"])
    client = sign_in("rater")
    case_query = case_query_of(case, "query 1")
    response = send(client, case, "query 1", doc_id, "2")
    assert response.status_code == 200
    assert mine(people) == {kept: 2}
    rated = by_id(response, f"rating-{case_query.pk}-1")
    form = elements(rated, _name="form")[0]
    assert attributes(form)["data-rate"] == kept
    assert attributes(elements(form, name="doc_id")[0])["value"] == kept
    page = client.get(at(case, "case", open=case_query.pk))
    assert same(by_id(page, f"rating-{case_query.pk}-1"), rated)
    link = by_id(page, f"title-{case_query.pk}-1")
    assert "This document is not among" not in client.get(attributes(link)["href"]).content.decode()


@pytest.mark.parametrize(
    ("doc_id", "message"),
    [("", "empty"), ("  ", "empty"), ("x" * 501, "501 characters"), ("a\0b", "invalid character")],
)
@pytest.mark.parametrize("value", ["2", ""])
def test_rate_refuses_invalid_ids(sign_in, people, case, doc_id, message, value):
    response = send(sign_in("rater"), case, "query 1", doc_id, value)
    assert response.status_code == 409
    assert message in response.content.decode()
    assert mine(people) == {}


def test_rate_of_a_document_that_is_not_shown_answers_with_the_whole_query(sign_in, people, case):
    client = sign_in("rater")
    case_query = case_query_of(case, "query 1")
    # The ranking has changed since the page was drawn: "b" has moved, and "z" is gone.
    for doc_id, rank in (("b", 1), ("z", 1), ("a", "x"), ("a", "")):
        response = send(client, case, "query 1", doc_id, "2", rank=rank)
        assert response.headers["HX-Retarget"] == f"#query-{case_query.pk}"
        assert response.headers["HX-Reswap"] == "outerHTML"
        page = client.get(at(case, "case", open=case_query.pk))
        assert words(by_id(page, f"query-{case_query.pk}")).removeprefix("1 ") == words(
            by_id(response, f"query-{case_query.pk}")
        )
    assert mine(people) == {"a": 2, "b": 2, "z": 2}


def test_rate_answer_is_what_a_reload_would_show(sign_in, case):
    client = sign_in("editor")
    case_query = case_query_of(case, "query 2")
    for doc_id, rank, value in (("b", 2, "3"), ("c", 3, "1"), ("b", 2, "")):
        response = send(client, case, "query 2", doc_id, value, rank=rank, position="2")
        page = client.get(at(case, "case", open=case_query.pk))
        inside = (f"query-row-{case_query.pk}", f"rate-shown-{case_query.pk}", f"query-scores-{case_query.pk}")
        for name in (f"rating-{case_query.pk}-{rank}", *inside):
            assert same(by_id(response, name), by_id(page, name)), name
        assert same(head_after(client, case), by_id(page, "case-score"))
        parts = [part for part in tree(response).children if hasattr(part, "name")]
        assert [part.name for part in parts] == ["div", "form", "section", "template"]
        assert "hx-swap-oob" not in attributes(parts[0])
        out_of_band = [parts[1], parts[2], parts[3].children[0]]
        assert [attributes(part)["hx-swap-oob"] for part in out_of_band] == ["true"] * 3
        assert "rated" in response.headers["HX-Trigger"]
        assert attributes(elements(parts[0], _name="form")[0])["hx-target"] == f"#rating-{case_query.pk}-{rank}"


def test_rate_changes_score_and_grade_at_once(sign_in, people, case):
    client = sign_in("rater")
    response = send(client, case, "query 1", "a", "0")
    result = by_id(response, f"rating-{case_query_of(case, 'query 1').pk}-1")
    chosen = [attributes(button)["data-grade"] for button in elements(result, _name="button", aria_checked="true")]
    assert chosen == ["0"]
    assert "3 Admin" in words(result)
    assert "Rater" not in words(result)  # the chosen button shows the own rating
    assert words(by_id(response, f"query-row-{case_query_of(case, 'query 1').pk}")).startswith("0.0")
    assert "25 .0" in words(head_after(client, case))


def test_rate_is_stored_even_if_its_scores_cannot_be(sign_in, people, case, monkeypatch, settings):
    settings.TASKS = {"default": {"BACKEND": "django.tasks.backends.dummy.DummyBackend"}}

    def fail(rows):
        raise DatabaseError("disk full")

    monkeypatch.setattr("relevancy.scores.rescoring.store", fail)
    client = sign_in("rater")
    assert send(client, case, "query 1", "a", "0").status_code == 200
    assert mine(people) == {"a": 0}
    assert "being rescored" in words(head_after(client, case))


def test_rate_does_not_touch_others_ratings(sign_in, people, case):
    send(sign_in("rater"), case, "query 1", "a", "1")
    send(sign_in("editor"), case, "query 1", "a", "2")
    assert mine(people, "rater") == {"a": 1}
    assert mine(people, "editor") == {"a": 2}
    assert mine(people, "admin")["a"] == 3


def test_rate_of_a_repeated_document_updates_every_position(sign_in, case):
    set_hits(case.runs.get(), "query 1", ["b", "a", "b"])
    client = sign_in("rater")
    case_query = case_query_of(case, "query 1")
    page = client.get(at(case, "case", open=case_query.pk))
    assert "1 document was returned twice." in words(by_id(page, f"query-{case_query.pk}"))
    repeat = by_id(page, f"result-{case_query.pk}-3")
    assert [words(pill) for pill in elements(repeat, cls="pill")] == ["repeat"]
    assert elements(repeat, _name="form") == []
    response = send(client, case, "query 1", "b", "2", rank=1)
    first, again = (by_id(response, f"rating-{case_query.pk}-{rank}") for rank in (1, 3))
    assert "hx-swap-oob" not in attributes(first)
    assert attributes(again)["hx-swap-oob"] == "true"
    page = client.get(at(case, "case", open=case_query.pk))
    assert same(by_id(page, f"rating-{case_query.pk}-1"), first)
    assert same(by_id(page, f"rating-{case_query.pk}-3"), again)


def test_rate_while_a_run_is_active(sign_in, people, case):
    run = start(case)
    Run.objects.filter(pk=run.pk).update(status="running")
    client = sign_in("rater")
    response = send(client, case, "query 1", "a", "2")
    assert response.status_code == 200
    assert mine(people) == {"a": 2}
    assert attributes(head_after(client, case))["hx-trigger"] == "every 1s"
    assert "Run 2, attempt 1" in words(head_after(client, case))
    assert not run.case_scores.exists()  # a mean over what happens to be searched so far is no score


def test_rate_without_any_run(sign_in, people, team, script):
    case = make_workbench_case(people, team, run=False)
    client = sign_in("rater")
    assert send(client, case, "query 1", "a", "2").status_code == 200
    assert mine(people) == {"a": 2}
    assert "Not run yet" in words(head_after(client, case))


def test_rate_on_an_older_run(sign_in, people, case):
    script_of(case.attempts.get()).answers["query 1"] = ("x", "y")
    run_now(case.attempts.select_related("case", "endpoint").get())
    client = sign_in("rater")
    response = send(client, case, "query 1", "b", "3", rank=2, run="1", position="1")
    case_query = case_query_of(case, "query 1")
    page = client.get(at(case, "case", open=case_query.pk, run=1))
    for name in (f"rating-{case_query.pk}-2", f"query-row-{case_query.pk}"):
        assert same(by_id(response, name), by_id(page, name)), name
    assert same(head_after(client, case, run=1), by_id(page, "case-score"))
    form = elements(by_id(response, f"rating-{case_query.pk}-2"), _name="form")[0]
    assert attributes(form)["action"] == at(case, "rate", case_query.pk, rank=2, run=1)
    assert mine(people) == {"b": 3}
    newest = Run.objects.newest_for(case).with_details().first()
    assert newest.number == 2
    assert scores.count_stale(newest, ScorerVersion.objects.used_by(case)[0]) == 0


def test_rate_without_htmx_keeps_the_query_open(sign_in, people, team, script):
    case = make_workbench_case(people, team, 60)
    client = sign_in("rater")
    for text, page in (("query 2", {}), ("query 60", {"page": 2})):
        case_query = case_query_of(case, text)
        response = send(client, case, text, "a", "2", headers={})
        assert response.headers["Location"] == at(case, "case", open=case_query.pk, **page) + f"#query-{case_query.pk}"
        assert by_id(client.get(response.headers["Location"]), f"result-{case_query.pk}-1")


def test_rate_reaches_the_other_cases_of_the_book(sign_in, people, team, script):
    case = make_workbench_case(people, team)
    other = make_workbench_case(people, team, 3, None, book_of=case)
    before = CaseScore.objects.get(run__case=other).score
    send(sign_in("rater"), case, "query 1", "a", "0")
    assert CaseScore.objects.get(run__case=other).score < before


# --- taking ratings back ---


def undo(client, case, headers=HTMX, **sent):
    return client.post(at(case, "rating_undo"), sent, headers=headers)


def test_undo_takes_the_last_rating_back_and_updates_the_open_query(sign_in, people, case):
    client, case_query = sign_in("rater"), case_query_of(case, "query 1")
    before = client.get(at(case, "case", open=case_query.pk))
    send(client, case, "query 1", "b", "3")
    response = undo(client, case, open=[case_query.pk])
    assert mine(people) == {}
    assert "Rating 3 of “query 1” taken back" in json.loads(response.headers["HX-Trigger"])["toast"]["text"]
    assert same(by_id(response, f"query-{case_query.pk}"), by_id(before, f"query-{case_query.pk}"))
    assert same(head_after(client, case), by_id(before, "case-score"))


def test_undo_of_a_closed_query_sends_its_row(sign_in, people, case):
    client, case_query = sign_in("rater"), case_query_of(case, "query 2")
    before = client.get(at(case, "case"))
    send(client, case, "query 2", "a", "3")
    response = undo(client, case, open=[case_query_of(case, "query 1").pk])
    assert same(by_id(response, f"query-{case_query.pk}"), by_id(before, f"query-{case_query.pk}"))


def test_undo_of_ratings_given_together_is_offered_with_them(sign_in, people, case):
    client = sign_in("rater")
    send(client, case, "query 1", "b", "3")
    response = send_all(client, case, "query 1", "1", all="1")
    assert json.loads(response.headers["HX-Trigger"])["toast"]["undo"] == at(case, "rating_undo")
    response = undo(client, case)
    assert "3 ratings of “query 1” taken back" in json.loads(response.headers["HX-Trigger"])["toast"]["text"]
    assert mine(people) == {"b": 3}
    undo(client, case, headers={})
    assert mine(people) == {}
    assert undo(client, case).status_code == 409
    assert undo(client, case, headers={}).status_code == 302


def test_undo_reports_changes_of_other_users(sign_in, people, case):
    client, query = sign_in("rater"), query_of(case, "query 1")
    send(client, case, "query 1", "b", "3")
    ratings.rate_book(book=case.book, values={query.pk: {"b": 1}}, rater=people["rater"], by=people["admin"])
    toast = json.loads(undo(client, case).headers["HX-Trigger"])["toast"]
    assert "Nothing taken back. 1 rating of “query 1” kept" in toast["text"]
    assert toast["level"] == "warning"
    assert mine(people) == {"b": 1}


# --- rate all shown ---


def send_all(client, case, text, value, headers=HTMX, **more):
    return client.post(at(case, "rate_shown", case_query_of(case, text).pk), {"value": value, **more}, headers=headers)


def test_rate_shown_leaves_what_is_rated(sign_in, people, case):
    client = sign_in("rater")
    send(client, case, "query 1", "b", "3")
    response = send_all(client, case, "query 1", "1")
    assert mine(people) == {"a": 1, "b": 3, "c": 1}
    assert "2 documents rated 1" in response.headers["HX-Trigger"]
    case_query = case_query_of(case, "query 1")
    page = client.get(at(case, "case", open=case_query.pk))
    assert same(head_after(client, case), by_id(page, "case-score"))
    for name in [f"result-{case_query.pk}-{rank}" for rank in (1, 2, 3)]:
        assert same(by_id(response, name), by_id(page, name)), name


def test_rate_shown_with_all_changes_the_rated_too(sign_in, people, case):
    client = sign_in("rater")
    send(client, case, "query 1", "b", "3")
    send_all(client, case, "query 1", "2,5", all="1")
    assert mine(people) == {"a": 2.5, "b": 2.5, "c": 2.5}
    assert send_all(client, case, "query 1", "0", headers={}).status_code == 302
    assert mine(people) == {"a": 2.5, "b": 2.5, "c": 2.5}


def test_rate_shown_only_what_is_shown_and_each_once(sign_in, people, case):
    run = case.runs.get()
    Run.objects.update(config={**run.config, "depth": 2})
    set_hits(Run.objects.get(), "query 1", ["b", "b", "c"])
    response = send_all(sign_in("rater"), case, "query 1", "2")
    assert mine(people) == {"b": 2}
    assert "1 document rated 2" in response.headers["HX-Trigger"]


@pytest.mark.parametrize("value", ["", "x", "4", "nan"])
def test_rate_shown_refused_changes_nothing(sign_in, people, case, value):
    assert send_all(sign_in("rater"), case, "query 1", value).status_code == 409
    assert mine(people) == {}


def test_rate_shown_without_results(sign_in, people, team, script):
    case = make_workbench_case(people, team, run=False)
    response = send_all(sign_in("rater"), case, "query 1", "2")
    assert response.status_code == 200
    assert mine(people) == {}


def test_rate_shown_offers_what_is_left(sign_in, people, team, script):
    case = make_workbench_case(people, team, 1, None, scale="1:10")
    client = sign_in("rater")
    case_query = case_query_of(case, "query 1")

    def bar():
        page = client.get(at(case, "case", open=case_query.pk))
        return next(
            form
            for form in elements(tree(page), _name="form")
            if attributes(form).get("action") == at(case, "rate_shown", case_query.pk)
        )

    assert "Rate 3 documents not rated by you" in words(bar())
    assert [words(button) for button in elements(bar(), _name="button")] == [str(grade) for grade in range(1, 11)]
    assert "compact" in attributes(elements(bar(), role="group")[0])["class"].split()
    send_all(client, case, "query 1", "7")
    assert "Rate all shown" in words(bar())
    assert attributes(elements(bar(), name="all")[0])["type"] == "hidden"


def test_long_scale_is_a_number_field(sign_in, people, team, script):
    case = make_workbench_case(people, team, 1, None, scale="0:100")
    client = sign_in("rater")
    assert send(client, case, "query 1", "a", "33,5").status_code == 200
    page = client.get(at(case, "case", open=case_query_of(case, "query 1").pk))
    result = by_id(page, f"result-{case_query_of(case, 'query 1').pk}-1")
    field = elements(result, type="number")[0]
    assert attributes(field)["value"] == "33.5"
    assert send(client, case, "query 1", "a", "101").status_code == 409


def test_notes_of_others_are_shown_with_the_result(sign_in, people, case):
    someone = make_user("Somebody")
    query = query_of(case, "query 1")
    ratings.rate(query=query, doc_id="b", value=1, by=someone, note="why")
    Rating.objects.filter(rater=someone).update(verdict=Verdict.CANNOT, value=None)
    client = sign_in("viewer")
    case_query = case_query_of(case, "query 1")
    page = client.get(at(case, "case", open=case_query.pk))
    assert "cannot Somebody" in words(by_id(page, f"result-{case_query.pk}-2"))
    text = words(tree(client.get(at(case, "document", case_query.pk, doc_id="b"))))
    assert "Somebody: why cannot" in text
    rate_all(case, {"query 1": {"b": 2}}, case.owner)
    assert "2 Admin" in words(by_id(client.get(at(case, "case", open=case_query.pk)), f"result-{case_query.pk}-2"))
