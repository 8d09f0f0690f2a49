import numpy as np
import pytest

from relevancy.scoring import Batch, CaseScore, Scale, case_score, parse_measure, score, values

SCALE = Scale.parse("0:3")


def of(text, batch, **options):
    return score(parse_measure(text), batch, 10, **options)


def test_score_decides_what_is_not_scoreable_alike_for_all():
    # Per column: no rating at all; only zeros known; a relevant document known, nothing returned; the same, unrated list.
    batch = Batch.from_grades([[None], [0, None], [], [None]], SCALE, [[], [], [2], [2]])
    nan = np.nan
    for text in ("nDCG@5", "R@5", "AP", "RR@5", "Success@5", "Bpref"):
        assert of(text, batch).score == pytest.approx([nan, nan, 0, 0], nan_ok=True), text
    for text in ("P@5", "CG@5", "DCG@5", "ERR@5", "RBP@5", "nDCG(ideal='max')@5"):
        assert of(text, batch).score == pytest.approx([nan, 0, 0, 0], nan_ok=True), text
    assert of("Judged@5", batch).score.tolist() == [0, 50, 0, 0]
    assert of("AvgEdit@5", batch).score == pytest.approx([nan, 0, 0, nan], nan_ok=True)


def test_score_can_count_unscoreable_queries_as_zero():
    batch = Batch.from_grades([[None], [3]], SCALE)
    assert of("nDCG@5", batch, zero_unscoreable=True).score.tolist() == [0, 100]
    assert of("nDCG@5", batch, zero_unscoreable=True).value.tolist() == [0, 1]
    assert np.isnan(of("nDCG@5", batch).value[0])


def test_score_counts_unrated_documents_among_the_first_k():
    batch = Batch.build([list("abcd"), list("aab"), []], [{"a": 1}, {}, {}], SCALE)
    assert of("P@3", batch).unrated.tolist() == [2, 2, 0]
    assert of("P(unrated='skip')@3", batch).unrated.tolist() == [2, 2, 0]
    assert of("AP", batch).unrated.tolist() == [3, 2, 0]


def test_score_repeat_keeps_its_slot_and_gains_nothing():
    batch = Batch.build([["a", "a", "b"]], [{"a": 1, "b": 1}], SCALE)
    assert of("P@3", batch).value[0] == pytest.approx(2 / 3)
    assert of("AP", batch).value[0] == pytest.approx((1 + 2 / 3) / 2)
    assert of("AP(unrated='skip')", batch).value[0] == pytest.approx((1 + 2 / 3) / 2)
    assert of("CG(gain='linear')@3", batch).value[0] == 2


def test_score_of_no_queries():
    scores = of("nDCG@5", Batch.from_grades([], SCALE))
    assert len(scores.score) == len(scores.low) == 0
    assert case_score(scores) == CaseScore(None, None, None, 0, 0)


@pytest.mark.parametrize("text", ["nDCG@5", "nDCG(unrated='skip')", "AP", "AvgEdit", "Bpref", "ERR", "P@3", "RR", "CG"])
def test_score_where_nothing_was_returned_anywhere(text):
    scores = of(text, Batch.from_grades([[], []], SCALE, [[3], []]))
    assert scores.score[0] == 0
    assert np.isnan(scores.score[1])


def test_values_are_those_of_score():
    batch = Batch.from_grades([[3, None, 1], [None]], SCALE)
    measure = parse_measure("nDCG@3")
    assert values(measure, batch, 3) == pytest.approx(score(measure, batch, 3).value, nan_ok=True)


def test_score_in_chunks_equals_score_in_one():
    chance = np.random.default_rng(5)
    grades = chance.integers(0, 4, (900, 600)).tolist()  # more than one chunk
    batch = Batch.from_grades(grades, SCALE)
    together = score(parse_measure("AP@20"), batch, 20)
    for at in (0, 450, 899):
        alone = score(parse_measure("AP@20"), batch.rows(at, at + 1), 20)
        assert alone.score[0] == together.score[at]
    assert len(together.unrated) == 900


def test_case_score_is_the_mean_over_scoreable_queries():
    batch = Batch.from_grades([[3], [None], [0, 3]], SCALE)
    scores = of("RR@2", batch)
    assert case_score(scores) == CaseScore(75, 75, 75, 2, 3)
    assert case_score(of("RR@2", batch, zero_unscoreable=True)).score == 50


def test_case_score_weights():
    scores = of("RR@2", Batch.from_grades([[3], [None], [0, 3]], SCALE))
    assert case_score(scores, [3, 100, 1]).score == pytest.approx(87.5)
    assert case_score(scores, [0, 1, 0]) == CaseScore(None, None, None, 2, 3)
    with pytest.raises(ValueError, match="2 weights were given for 3"):
        case_score(scores, [1, 1])
    with pytest.raises(ValueError, match="at least 0"):
        case_score(scores, [1, 1, -1])


def test_case_score_bounds():
    scores = of("P@1", Batch.from_grades([[None], [3], [None]], SCALE, [[1], [], []]))
    assert case_score(scores) == CaseScore(50, 50, 100, 2, 3)
    judged = case_score(of("Judged@2", Batch.from_grades([[3, None]], SCALE)))
    assert (judged.score, judged.low, judged.high) == (50, None, None)
