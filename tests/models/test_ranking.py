"""How rankings are stored: the numbers of their documents and the engine scores, packed."""

from typing import Any

import numpy as np
import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from relevancy.models import Document, Ranking, Run, hit_sizes, read_doc_ids, read_hits
from relevancy.models.ranking import pack_numbers, pack_scores, unpack_numbers, unpack_scores
from tests.factories import make_attempt, make_case, run_now

SINGLE = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(st.lists(st.integers(1, 2**32 - 1)))
def test_numbers_are_the_same_after_packing(numbers: list[int]) -> None:
    packed = pack_numbers(numbers)
    assert unpack_numbers(packed, len(numbers)) == numbers
    assert len(packed) == len(numbers) * (3 if max(numbers, default=0) < 2**24 else 4)


@given(st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False)))
def test_scores_are_the_same_after_packing(scores: list[float | None]) -> None:
    assert unpack_scores(pack_scores(scores), len(scores)) == scores


@given(st.lists(SINGLE, min_size=1))
def test_scores_of_single_precision_take_four_bytes(scores: list[float]) -> None:
    assert len(pack_scores(scores)) == 1 + 4 * len(scores)


@given(st.lists(SINGLE, min_size=1))
def test_printed_scores_of_single_precision_take_four_bytes(scores: list[float]) -> None:
    """An engine prints a score with as few digits as identify it, and a JSON parser makes a number of double precision of it."""
    printed = [float(str(np.float32(score))) for score in scores]
    assert len(pack_scores(printed)) == 1 + 4 * len(scores)


@pytest.fixture
def run(script: object) -> Run:
    run = run_now(make_attempt(make_case(2)))
    run.rankings.all().delete()
    Document.objects.all().delete()
    return run


def store(run: Run, *hits: list[list[Any]]) -> None:
    """A ranking with these hits for each query."""
    ids = run.case.case_queries.order_by("pk").values_list("query_id", flat=True)
    rows = [Ranking.with_hits(of_query, run=run, query_id=pk) for pk, of_query in zip(ids, hits, strict=False)]
    with transaction.atomic():
        Ranking.objects.store(rows, endpoint=run.attempt.endpoint_id)


@pytest.mark.django_db
def test_store_keeps_one_row_of_each_version(run: Run) -> None:
    first = [["a", 1.5, {"title": "A"}], ["b", None, {"title": "B", "n": [1, None]}], ["a", 0.5, {"title": "A"}]]
    second = [["a", 2.0, {"title": "A"}, {"title": "\ue000A\ue001"}], ["b", 1.0, {"title": "other"}]]
    store(run, first, second)
    assert sorted(Document.objects.values_list("doc_id", flat=True)) == ["a", "b", "b"]
    rankings = list(run.rankings.order_by("query_id"))
    with CaptureQueriesContext(connection) as captured:
        assert [ranking.hits for ranking in read_hits(rankings)] == [first, second]
        assert [ranking.doc_ids for ranking in rankings] == [["a", "b", "a"], ["a", "b"]]
    assert len(captured) == 1


@pytest.mark.django_db
def test_store_leaves_out_what_the_run_has(run: Run) -> None:
    store(run, [["a", 1.0, {}]])
    store(run, [["z", 1.0, {}]], [["a", 1.0, {}]])
    assert [ranking.doc_ids for ranking in run.rankings.order_by("query_id")] == [["a"], ["a"]]


@pytest.mark.django_db
def test_ids_are_read_without_fields(run: Run) -> None:
    store(run, [["a", 1.0, {"title": "A"}]], [])
    rankings = list(run.rankings.order_by("query_id"))
    with CaptureQueriesContext(connection) as captured:
        assert [ranking.doc_ids for ranking in read_doc_ids(rankings)] == [["a"], []]
    assert len(captured) == 1
    assert "fields" not in captured[0]["sql"]
    assert hit_sizes(rankings)[1] == 0 < hit_sizes(rankings)[0] < 20


@pytest.mark.django_db
def test_a_text_that_was_edited_while_it_was_searched_is_kept(run: Run) -> None:
    case_query = run.case.case_queries.order_by("pk")[0]
    for searched, former in (("query 1", ""), ("an older text", "an older text")):
        run.rankings.all().delete()
        with transaction.atomic():
            ranking = Ranking.with_hits([], run=run, query_id=case_query.query_id, former_text=searched)
            Ranking.objects.store([ranking], endpoint=run.attempt.endpoint_id)
        stored = run.rankings.get()
        assert (stored.former_text, stored.text) == (former, searched)
