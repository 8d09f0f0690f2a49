"""Clicks of a log become estimates that stand apart, and ratings by the rater “clicks” once they are accepted."""

import io
import json

import pytest
from django.core.exceptions import ValidationError

from relevancy import ratings, scores
from relevancy.formats.errors import BadFile
from relevancy.models import Rating, RatingChange, User
from relevancy.optional.clicks import click_logs, counting
from relevancy.optional.clicks.log_formats import read_log
from relevancy.optional.clicks.models import ClickEstimate, ClickLog
from tests.factories import make_case, make_user, query_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
HEADER = "query,count,docid,position,clicks\n"
# Position 2 is looked at half as often. a: 0.4, b: 0.2, c: 0.1; of another query, which is not in the book, d and e.
LOG = HEADER + (
    "q1,1000,a,1,400\nq1,1000,b,2,100\nq1,1000,b,1,200\nq1,1000,a,2,200\nq1,1000,c,1,100\nq1,1000,c,2,50\n"
    "q1,4,rare,2,2\nq9,1000,d,1,300\nq9,1000,d,2,150\n"
)


@pytest.fixture
def case():
    return make_case(["q1", "q2"], owner=make_user("Owner"))


def load(case, text=LOG, *, method="position", events=None, **options):
    files = [io.BytesIO(part.encode()) for part in (text, events) if part is not None]
    with read_log(*files) as log:
        return click_logs.import_clicks(
            book=case.book, log=log, method=method, by=case.owner, name="log.csv", **options
        )


def values(log):
    return {row.doc_id: row.value for row in log.estimates.all()}


def grades(case):
    return dict(Rating.objects.filter(query__book=case.book, rater__kind="machine").values_list("doc_id", "value"))


def test_estimates_of_the_books_queries_stand_apart(case):
    log = load(case, strength=0)
    assert values(log) == pytest.approx({"a": 0.4, "b": 0.2, "c": 0.1, "rare": 1.0}, rel=0.05)
    assert log.examination == [[1, 1.0], [2, pytest.approx(0.5, rel=0.02)]]
    assert (log.searches, log.pairs) == (4004, 5)  # 3,004 documents of q1 were shown at position 2
    row = log.estimates.get(doc_id="a")
    assert (row.shown, row.clicks) == (2000, 600)
    assert row.evidence == pytest.approx(1500, rel=0.02)
    assert not Rating.objects.exists()
    assert click_logs.newest_log(case.book) == log


def test_rare_documents_are_close_to_what_is_usual_at_their_position(case):
    row = load(case).estimates.get(doc_id="rare")
    assert row.unshrunken == 1
    assert 0.2 < row.value < 0.45


@pytest.mark.parametrize("method", ["ips", "coec"])
def test_other_models_agree_on_the_order(case, method):
    log = load(case, method=method)
    result = values(log)
    assert result["a"] > result["b"] > result["c"]
    assert ClickLog.objects.get() == log


def test_cascade_needs_single_searches(case):
    with pytest.raises(BadFile, match="each single search"):
        load(case, method="cascade")
    searches = [
        {"query_id": str(number), "user_query": "q1", "query_response_hit_ids": ["a", "b"]} for number in range(40)
    ]
    events = [
        {"action_name": "click", "query_id": str(number), "event_attributes": {"object": {"object_id": "b"}}}
        for number in range(20)
    ]
    text, clicked = ("".join(json.dumps(row) + "\n" for row in rows) for rows in (searches, events))
    result = values(load(case, text, events=clicked, method="cascade", strength=0))
    assert result == {"a": 0, "b": 0.5}


def test_cascade_counts_searches_that_showed_a_document_below_the_last_click(case):
    """b is looked at in the two searches without a click on a, and shown in all five, at two positions."""
    lists = [["a", "b"]] * 3 + [["b", "a"], ["a", "b"]]
    searches = [
        {"query_id": str(number), "user_query": "q1", "query_response_hit_ids": doc_ids}
        for number, doc_ids in enumerate(lists)
    ]
    events = [
        {"action_name": "click", "query_id": str(number), "event_attributes": {"object": {"object_id": "a"}}}
        for number in range(3)
    ]
    text, clicked = ("".join(json.dumps(row) + "\n" for row in rows) for rows in (searches, events))
    log = load(case, text, events=clicked, method="cascade", strength=0)
    assert {row.doc_id: (row.shown, row.clicks, row.evidence) for row in log.estimates.all()} == {
        "a": (5, 3, 5),
        "b": (5, 0, 2),
    }


@pytest.mark.parametrize(
    ("text", "method", "words"),
    [
        ("query,count\nq1,5\n", "position", "does not say what was clicked"),
        (HEADER + "q1,5,a,1,3\nq1,5,b,2,1\n", "position", "different positions"),
        (HEADER + "other,5,a,1,3\n", "coec", "queries that the book has"),
    ],
)
def test_logs_without_what_the_model_needs_are_refused(case, text, method, words):
    with pytest.raises(BadFile, match=words):
        load(case, text, method=method)
    assert not ClickLog.objects.exists()


def test_new_log_replaces_the_last_one(case):
    load(case)
    second = load(case, HEADER + "q1,100,z,1,50\n", method="coec")
    assert ClickLog.objects.get() == second
    assert [row.doc_id for row in ClickEstimate.objects.all()] == ["z"]


def test_too_many_estimates_are_refused(case, monkeypatch):
    monkeypatch.setattr(click_logs, "MAX_ESTIMATES", 3)
    with pytest.raises(BadFile, match="4 documents"):
        load(case)


def test_preview_counts_and_changes_nothing(case):
    ratings.rate(query=query_of(case, "q1"), doc_id="a", value=3, by=case.owner)
    log = load(case)
    preview = counting.preview(log=log, thresholds=[0.15, 0.3, 0.39], min_evidence=100)
    assert [(row.grade, row.low, row.documents, row.rated, row.judged) for row in preview.grades] == [
        (0, None, 1, 0, 0),
        (1, 0.15, 1, 0, 0),
        (2, 0.3, 0, 0, 0),
        (3, 0.39, 1, 1, 1),
    ]
    assert preview.grades[3].mean == pytest.approx(0.4, rel=0.02)
    assert (preview.enough, preview.left_out, preview.too_little) == (3, 1, 1)
    assert not grades(case)


def test_counting_does_what_the_preview_says(case):
    query = query_of(case, "q1")
    ratings.rate(query=query, doc_id="a", value=0, by=case.owner)
    log = load(case)
    revision = case.book.queries.get(pk=query.pk).revision
    result = counting.let_count(log=log, thresholds=[0.15, 0.3, 0.39], min_evidence=100, by=case.owner)
    assert (result.changed, result.left_out) == (2, 1)
    assert grades(case) == {"b": 1, "c": 0}
    assert case.book.queries.get(pk=query.pk).revision == revision + 1
    assert scores.QueryRatings.read(query.pk).grades(case.book)["a"] == 0  # the rating by a person stays
    assert set(RatingChange.objects.filter(source="clicks").values_list("by__name", "rater__name")) == {
        ("Owner", "clicks")
    }
    rater = User.objects.get(kind="machine")
    assert not rater.is_active
    assert not rater.has_usable_password()


def test_counting_again_replaces_what_counted(case):
    first = load(case)
    counting.let_count(log=first, thresholds=[0.15, 0.3, 0.39], min_evidence=100, by=case.owner)
    assert grades(case) == {"a": 3, "b": 1, "c": 0}
    second = load(case, LOG.replace("q1,1000,c,1,100\nq1,1000,c,2,50\n", ""))
    result = counting.let_count(log=second, thresholds=[0.1, 0.25, 0.3], min_evidence=100, by=case.owner)
    assert grades(case) == {"a": 3, "b": 1}
    assert result.changed == 1
    assert (second.thresholds, second.min_evidence) == ([0.1, 0.25, 0.3], 100)
    assert counting.withdraw(log=second, by=case.owner) == 2
    assert not grades(case)
    assert second.estimates.count() == 3


def test_people_rate_later_and_the_clicks_go(case):
    log = load(case)
    counting.let_count(log=log, thresholds=[0.15, 0.3, 0.39], min_evidence=100, by=case.owner)
    ratings.rate(query=query_of(case, "q1"), doc_id="a", value=1, by=case.owner)
    counting.let_count(log=log, thresholds=[0.15, 0.3, 0.39], min_evidence=100, by=case.owner)
    assert grades(case) == {"b": 1, "c": 0}


@pytest.mark.parametrize("thresholds", [[], [0.1, 0.2], [0.1, 0.1, 0.2], [0.3, 0.2, 0.1], [0.1, 0.2, float("nan")]])
def test_thresholds_must_fit_the_scale(case, thresholds):
    log = load(case)
    for act in (counting.preview, counting.let_count):
        more = {"by": case.owner} if act is counting.let_count else {}
        with pytest.raises(ValidationError):
            act(log=log, thresholds=thresholds, min_evidence=0, **more)
    assert not grades(case)


def test_suggested_thresholds_make_parts_of_equal_size(case):
    rows = "".join(f"q1,1000,d{number},1,{10 * number}\n" for number in range(1, 41))
    log = load(case, HEADER + rows, method="coec")
    thresholds = counting.suggest_thresholds(log, 0)
    preview = counting.preview(log=log, thresholds=thresholds, min_evidence=0)
    assert all(9 <= row.documents <= 11 for row in preview.grades)  # the thresholds are rounded
    assert counting.suggest_thresholds(log, 1e9) == []
