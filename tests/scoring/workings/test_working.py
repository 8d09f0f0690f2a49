"""The working of every measure leads to the value that its arithmetic gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relevancy.scoring import (
    Definition,
    GradeError,
    Measure,
    Scale,
    get_definitions,
    parse_measure,
    show_working,
)
from tests.scoring.measure_variants import MEASURES, SOME_MEASURES, single_query_batches, to_optional
from tests.scoring.ranking_scores import batch_from_grades, compute_values


def build_batch(grades, unretrieved=(), scale="0:3"):
    return batch_from_grades([grades], Scale.parse(scale), [unretrieved])


@settings(max_examples=150, deadline=None)
@given(SOME_MEASURES, single_query_batches(), st.integers(1, 10))
def test_working_leads_to_the_value(texts, drawn, depth):
    for text in texts:
        batch, measure = drawn[0], parse_measure(text)
        working = show_working(measure, batch, depth)
        value = to_optional(compute_values(measure, batch, depth)[0])
        if value is None:
            assert working.result is None
            assert working.conclusion.startswith("Not scoreable: ")
        else:
            assert working.result == pytest.approx(value, abs=1e-12, rel=1e-12)
            assert working.conclusion


@settings(max_examples=150, deadline=None)
@given(SOME_MEASURES, single_query_batches(), st.integers(1, 10))
def test_running_sums_add_up_and_end_at_the_sum(texts, drawn, depth):
    for text in texts:
        working = show_working(parse_measure(text), drawn[0], depth)
        for column in working.columns:
            if not column.sums:
                continue
            total = 0.0
            for part, reached in zip(working.column(column.sums), working.column(column.key), strict=True):
                total += part or 0.0
                assert reached is None or reached == pytest.approx(total, abs=1e-12, rel=1e-12)
            assert working.totals[column.key] == pytest.approx(total, abs=1e-12, rel=1e-12)


@settings(max_examples=150, deadline=None)
@given(SOME_MEASURES, single_query_batches(), st.integers(1, 10))
def test_rows_are_the_documents_at_their_positions(texts, drawn, depth):
    for text in texts:
        batch, ranking, known = drawn
        measure = parse_measure(text)
        working = show_working(measure, batch, depth)
        ranks = [row.rank for row in working.rows if row.rank is not None]
        assert ranks == list(range(1, len(ranks) + 1))
        indices = [row.index for row in working.rows if row.index is not None]
        assert indices == list(
            range(len(indices))
        )  # every document down to the last one counted, including those skipped
        depth = measure.cutoff or depth
        assert len([row for row in working.rows if row.rank is not None and row.index is not None]) <= depth
        for row in working.rows:
            if row.index is None:
                assert row.state == "empty" and row.grade is None
                continue
            document = ranking[row.index]
            if document in ranking[: row.index]:
                assert row.state == "repeat" and row.grade is None
            elif document in known:
                assert (row.state, row.grade) == ("rated", known[document])
            else:
                skipping = measure.parameters.get("unrated") == "skip"
                assert row.state == ("skipped" if skipping else "unrated") and row.grade is None
            assert (row.rank is None) == (row.state == "skipped")
            assert len(row.numbers) == len(working.columns)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([text for text in MEASURES if text.startswith("nDCG")]), single_query_batches(), st.integers(1, 10)
)
def test_ideal_list_descends_and_ends_with_the_last_grade(text, drawn, depth):
    batch, _, known = drawn
    measure = parse_measure(text)
    ideal = [g for g in show_working(measure, batch, depth).column("ideal_grade") if g is not None]
    assert ideal == sorted(ideal, reverse=True)
    depth = measure.cutoff or depth
    kind = measure.parameters["ideal"]
    if kind in ("global", "uncut"):
        every = sorted(known.values(), reverse=True)
        assert ideal == (every if kind == "uncut" else every[:depth])
    assert kind == "uncut" or len(ideal) <= depth


def test_ndcg_with_the_ideal_list_next_to_it():
    """Ten results and an ideal list of ten better documents, rank by rank."""
    grades = [3, 3, 2, 1, 3, None, 2, None, 3, 0]
    working = show_working(parse_measure("nDCG@10"), build_batch(grades, (3, 3, 2)), 10)
    assert [column.key for column in working.columns] == [
        *("gain", "discount", "product", "sum", "ideal_grade", "ideal_product", "ideal_sum")
    ]
    assert working.conclusion == "19.162 ÷ 26.271 = 0.7294"
    assert working.column("ideal_grade") == (3, 3, 3, 3, 3, 3, 2, 2, 2, 1)
    assert [row.state for row in working.rows][5:8] == ["unrated", "rated", "unrated"]
    assert working.column("sum")[-1] == pytest.approx(19.162, abs=5e-4)


def test_a_skipped_document_is_listed_without_a_rank():
    working = show_working(parse_measure("DCG(unrated='skip')@2"), build_batch([None, 3, None, 1, None, 2]), 10)
    assert [(row.index, row.rank, row.state) for row in working.rows] == [
        (0, None, "skipped"), (1, 1, "rated"), (2, None, "skipped"), (3, 2, "rated"),
    ]  # fmt: skip
    assert working.column("gain") == (None, 7.0, None, 1.0)


def test_rows_of_an_ideal_list_that_is_longer_than_the_ranking():
    working = show_working(parse_measure("nDCG@3"), build_batch([1], (2, 3, 3)), 10)
    assert [(row.rank, row.index, row.state) for row in working.rows] == [
        (1, 0, "rated"), (2, None, "empty"), (3, None, "empty"),
    ]  # fmt: skip
    assert working.column("ideal_grade") == (3, 3, 2)
    assert working.column("gain") == (1, None, None)


@pytest.mark.parametrize(
    ("measure", "grades", "unretrieved", "conclusion"),
    [
        ("nDCG(gain='linear')@6", [3, 2, 3, 0, 1, 2], (3, 2), "6.861 ÷ 8.740 = 0.7850"),
        ("DCG@6", [3, 2, 3, 0, 1, 2], (), "Sum of the products = 13.848"),
        ("CG(gain='linear')@6", [3, 2, 3, 0, 1, 2], (), "Sum of the gains = 11.000"),
        ("P@4", [1, 0, 1, 0, 1], (), "2 ÷ 4 = 0.5000"),
        ("R@4", [1, 0, 1, 0, 1], (), "2 ÷ 3 = 0.6667"),
        ("Success@4", [0, 1, 1], (), "2 relevant results in the first 4: 1"),
        ("Success@1", [0, 1, 1], (), "0 relevant results in the first 1: 0"),
        ("AP", [1, 0, 1, 0, 1], (), "2.2667 ÷ 3 = 0.7556"),
        ("RR@5", [0, None, 1], (), "The first relevant result is at rank 3: 1 ÷ 3 = 0.3333"),
        ("RR@2", [0, None, 1], (), "No relevant result in the first 2: 0"),
        ("ERR@4", [3, None, 0, 1], (), "Sum of the products = 0.8789"),
        ("RBP(p=0.5)@3", [1, 0, 1], (), "Sum of the products = 0.6250"),
        ("Judged@4", [3, None, 0, 1], (), "3 ÷ 4 = 0.7500"),
        ("Bpref", [1, 0, 1, None, 1, 0], (0,), "2.3333 ÷ 3 = 0.7778"),
        ("P@4", [], (1,), "0 ÷ 4 = 0.0000"),
        ("DCG@4", [], (1,), "No results to count: 0"),
        ("nDCG@4", [None], (), "Not scoreable: no document has been rated for this query"),
        ("nDCG@4", [0], (), "Not scoreable: no document with a grade above 0 is known"),
        ("AP(rel=2)", [1], (), "Not scoreable: no relevant document (grade 2 or higher) is known"),
        ("AvgEdit@2", [None, None, 3], (), "Not scoreable: neither of the first two results is rated"),
        ("AvgEdit@2", [None], (3,), "Not scoreable: the only result returned is not rated"),
        (
            "AvgEdit@2",
            [],
            (0,),
            "Not scoreable: no results were returned and no document with a grade above 0 is known",
        ),
    ],
)
def test_conclusion(measure, grades, unretrieved, conclusion):
    assert show_working(parse_measure(measure), build_batch(grades, unretrieved), 5).conclusion == conclusion


LENGTH = Definition("Length", "Length", "Number of results.", lambda slots, _settings: slots.filled_counts)


def test_a_measure_without_a_working_of_its_own_lists_ranks_and_grades(monkeypatch):
    monkeypatch.setattr("relevancy.scoring.registry.get_definitions", lambda: {**get_definitions(), "Length": LENGTH})
    working = show_working(Measure("Length", (), 3), build_batch([3, None]), 10)
    assert working.columns == ()
    assert [(row.rank, row.grade, row.state) for row in working.rows] == [(1, 3.0, "rated"), (2, None, "unrated")]
    assert working.result == 2.0
    assert working.conclusion == "Length@3 = 2.0000"
    assert show_working(Measure("Length"), build_batch([None]), 10).result is None


def test_show_working_refuses_several_queries():
    batch = batch_from_grades([[1], [2]], Scale.parse("0:3"))
    with pytest.raises(GradeError, match="the batch has 2"):
        show_working(parse_measure("AP"), batch, 10)


def test_show_working_of_one_query_of_a_batch():
    batch = batch_from_grades([[1, 2, 3, None, 1], [2]], Scale.parse("0:3"), [[], [3, 3]])
    working = show_working(parse_measure("nDCG@5"), batch.rows(1, 2), 5)
    assert working.result == pytest.approx(float(compute_values(parse_measure("nDCG@5"), batch, 5)[1]))
    assert [row.index for row in working.rows] == [0, None, None]
    assert not np.isnan(working.result)
