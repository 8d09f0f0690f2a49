"""The verdict, and who carries it, in words."""

import numpy as np
import pytest

from relevancy import comparison
from relevancy.comparison import RunPair
from relevancy.comparison.bounds import Outlook
from relevancy.models import Case, Run
from relevancy.statistics import Differences, Verdict, compare_paired


def pair_of(values, outlook=None, verdict=None) -> RunPair:
    """Run 2 against run 1, on queries that are called q1, q2 and so on."""
    differences = Differences.build(list(values))
    paired = compare_paired(differences)
    possible = (outlook.low, outlook.high) if outlook else None
    case = Case(pk=1, name="Movies")
    return RunPair(
        a=Run(number=1, case=case),
        b=Run(number=2, case=case),
        by_query=differences,
        paired=paired,
        p_holm=None,
        p_hsd=None,
        verdict=verdict or paired.decide(possible=possible),
        carriers=[f"q{position + 1}" for position in paired.carriers],
        outlook=outlook,
    )


def test_few_carriers_are_named_with_what_is_left():
    pair = pair_of([60, 40, *[1] * 9, *[0] * 9])
    assert comparison.describe_carriers(pair) == (
        "2 queries make up 80 % of the difference (“q1”, “q2”); without them it is +0.5."
    )


def test_a_single_carrier_is_named_with_what_is_left():
    pair = pair_of([-60, 5, *[0] * 8])
    assert comparison.describe_carriers(pair) == (
        "One query makes up 80 % of the difference (“q1”); without it, it is +0.6."
    )


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([10] * 5, "4 queries make up 80 % of the gain."),
        ([-30, -20, -1, *[0] * 7], "2 queries make up 80 % of the loss."),
        ([0] * 9, ""),
        ([5, -5], ""),
    ],
)
def test_more_carriers_than_a_tenth_are_counted(values, sentence):
    assert comparison.describe_carriers(pair_of(values)) == sentence


def test_at_most_five_carriers_are_named():
    text = comparison.describe_carriers(pair_of([*[50] * 10, *[0] * 90]))
    assert text == (
        "8 queries make up 80 % of the difference (“q1”, “q2”, “q3”, “q4”, “q5” and 3 more); without them it is +1.1."
    )


@pytest.mark.parametrize(("count", "share"), [(20, 7), (42, 14), (6, 2)])
def test_all_differences_0(count, share):
    assert comparison.describe_verdict(pair_of([0.0] * count)) == (
        f"Run 2 and Run 1 scored the same on all {count} queries; a change that affects fewer than 1 query in {share} may be missed."
    )


@pytest.mark.parametrize(("count", "about"), [(39, "about "), (40, "")])
def test_detectable_is_about_so_large_below_40_queries(count, about):
    pair = pair_of(np.tile([10.0, -10.0], 20)[:count])
    assert comparison.format_detectable(pair) == f"{about}4.{'7' if about else '6'}"


def test_too_few_queries_to_tell():
    assert comparison.describe_verdict(pair_of([30.0, 40.0, 50.0])) == (
        "Too few queries to tell whether Run 2 is better than Run 1: +40.0 points on the same 3 queries."
    )


def test_too_little_is_rated_to_say():
    pair = pair_of([0.0] * 30, Outlook(-40, 60, 0.05))
    assert pair.verdict is Verdict.UNRATED
    sentence = comparison.describe_verdict(pair)
    assert sentence.startswith("Too little is rated to say: 5 % of what counts in Run 1 and Run 2.")
    assert "−40.0 to +60.0 are possible over all queries" in sentence


def test_a_lopsided_interval_names_how_many_queries_pull_it():
    assert comparison.describe_lopsided(pair_of([100, 90, *[1] * 40])) == (
        "The interval reaches further above the difference than below: 2 queries gained 90.0 to 100.0 points, much more than the "
        "others."
    )
    assert "below the difference than above: 1 query lost 100.0 points" in comparison.describe_lopsided(
        pair_of([-100, *[0] * 41])
    )


@pytest.mark.parametrize("values", [[10, -10] * 20, [100, *[0] * 9], [0] * 30, [5] * 30])
def test_an_interval_that_is_not_lopsided_or_not_reliable_has_no_reason(values):
    assert comparison.describe_lopsided(pair_of(values)) == ""


@pytest.mark.parametrize(
    ("values", "more"),
    [
        ([40, -40, 30, -30, 25, -10, *[1] * 24], 890),  # sd 14.02, difference 1.3: 915 queries
        ([20, 10, 10, *[0] * 20], None),  # three changed queries say nothing of others
        ([10] * 12, None),  # no spread
        ([9, 11] * 20, None),  # enough already
    ],
)
def test_how_many_more_queries_a_difference_needs(values, more):
    pair = pair_of(values)
    assert comparison.count_queries_to_add(pair) == more
