"""What a preference test shows, in words."""

import pytest

from relevancy.optional.preferences.models import PreferenceTest
from relevancy.optional.preferences.preferences import PreferenceResult
from relevancy.optional.preferences.sentences import describe_draw, result_details, result_sentence
from relevancy.statistics import sign_test


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((0, 0, 0), "No list has been preferred for any query yet."),
        ((0, 0, 3), "Every query is a tie so far."),
        ((1, 0, 0), "1 query that is not a tie cannot show a difference: at least 5 more are needed."),
        ((3, 2, 0), "5 queries that are not a tie cannot show a difference: at least 1 more is needed."),
        (
            (18, 6, 4),
            "Raters prefer Run 7: its list is better for 18 of 24 queries (75 %, 95 % interval 53 % to 90 %; p = .023).",
        ),
        (
            (6, 18, 4),
            "Raters prefer Run 3: its list is better for 18 of 24 queries (75 %, 95 % interval 53 % to 90 %; p = .023).",
        ),
        (
            (200, 100, 0),
            "Raters prefer Run 7: its list is better for 200 of 300 queries (67 %, 95 % interval 61 % to 72 %; p < .001).",
        ),
        (
            (10, 14, 0),
            "No difference that 24 queries can show: the list of Run 3 is better for 14 of them "
            "(58 %, 95 % interval 37 % to 78 %; p = .541).",
        ),
        ((12, 12, 0), "No difference: each list is better for 12 of 24 queries (p = 1.000)."),
    ],
)
def test_result_sentence(counts, expected):
    result = PreferenceResult(sign_test(*counts), [], [], 0, 0, 0, None)
    assert result_sentence(result, ["Run 3", "Run 7"]) == expected


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, ["0 of 1 query has an answer", "1 query ended in a tie and does not", "3 queries drawn at random: 1 has"]),
        (
            2,
            [
                "0 of 2 queries have an answer",
                "2 queries ended in a tie and do not",
                "6 queries drawn at random: 2 have",
            ],
        ),
    ],
)
def test_result_details_agree_with_their_numbers(count, expected):
    test = PreferenceTest(drawn=3 * count, identical=count, depth=10)
    result = PreferenceResult(sign_test(0, 0, count), [], [], count, 0, 0, None)
    for sentence, beginning in zip(result_details(test, result), expected, strict=True):
        assert sentence.startswith(beginning)


def test_draw_says_what_raters_see():
    expected = "45 queries drawn at random: 27 have the same first 10 results in both runs, raters see the other 18."
    assert describe_draw(45, 27, 10) == expected
    assert describe_draw(30, 0, 10) == "30 queries drawn at random, all with different lists in the two runs."
