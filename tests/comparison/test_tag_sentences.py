"""What is said of tags: which kinds of queries gain, and which lose."""

import pytest

from relevancy.comparison import TagDifference, describe_correction, describe_tags
from relevancy.statistics import Interval


def figures(tag, difference, p_holm, low=None, high=None):
    interval = None if low is None else Interval(low, high, is_reliable=True)
    return TagDifference(tag=tag, queries=30, difference=difference, interval=interval, p=p_holm, p_holm=p_holm)


DIGITS = figures("digits", -6.1, 0.002, -9.8, -2.4)
LONG = figures("long", 3, 0.03, 1.2, 4.9)
SHORT = figures("short", -9, 0.2, -20, 2)
RARE = figures("rare", 40, None)


@pytest.mark.parametrize(
    ("tags", "sentence"),
    [
        ([], ""),
        (
            [SHORT, DIGITS],
            "Queries tagged “digits” lose 6.1 points (−9.8 to −2.4); the other tag shows no clear difference.",
        ),
        (
            [LONG, DIGITS, SHORT, SHORT],
            "Queries tagged “digits” lose 6.1 points (−9.8 to −2.4), and “long” gain 3.0 points (+1.2 to +4.9); the other 2 "
            "tags show no clear difference.",
        ),
        ([DIGITS], "Queries tagged “digits” lose 6.1 points (−9.8 to −2.4)."),
        ([SHORT], "The only tag shows no clear difference."),
        (
            [SHORT, SHORT, RARE],
            "The 2 tags show no clear difference. 1 tag has too few queries for a test.",
        ),
        ([RARE], "No tag has enough queries for a test: “rare”."),
    ],
)
def test_the_sentence(tags, sentence):
    assert describe_tags(tags) == sentence


def test_many_tags_are_counted():
    lost = [figures(f"tag {number}", -number, 0.01, -9, -1) for number in range(1, 6)]
    assert describe_tags(lost) == (
        "Queries tagged “tag 5” lose 5.0 points (−9.0 to −1.0), “tag 4” lose 4.0 points (−9.0 to −1.0), “tag 3” lose 3.0 points "
        "(−9.0 to −1.0) and 2 more."
    )


def test_the_correction_counts_the_tags_that_are_tested():
    assert describe_correction([RARE]) == "No tag has enough queries for a p below .05"
    assert describe_correction([DIGITS, RARE]) == "p is corrected for 1 tag by Holm's method"
    assert describe_correction([DIGITS, LONG, DIGITS], runs=2) == "p is corrected for 2 tags in 2 runs by Holm's method"
