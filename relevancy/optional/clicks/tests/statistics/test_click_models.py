"""Click models, on worked examples and on simulated users whose true relevance is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from relevancy.optional.clicks.statistics import (
    ClickCounts,
    estimate_by_cascade,
    estimate_by_coec,
    estimate_by_ips,
    estimate_by_position,
    estimate_examination,
)
from relevancy.statistics.errors import StatisticsError

from .users import GAMMAS, Shop, click_by_position, click_downwards, counts_of

# One pair at both positions, and one at the second one only.
EXAMPLE = ClickCounts.build(pairs=[0, 0, 1], positions=[1, 2, 2], shown=[100, 100, 50], clicks=[40, 20, 5])


@pytest.fixture(scope="module")
def shop():
    return Shop.build(queries=60, searches=2_000, seed=1)


@pytest.fixture(scope="module")
def counts(shop):
    return click_by_position(shop, seed=2)


@pytest.fixture(scope="module")
def rare():
    """Many pairs of which each has few searches."""
    return Shop.build(queries=3_000, searches=8, seed=3)


# --- worked examples ---


def test_examination_worked_example():
    """Of the 60 clicks on the first pair, as many belong to position 2 as its examination: γ = 0.5. The second pair says nothing."""
    assert estimate_examination(EXAMPLE) == pytest.approx([1, 0.5])


def test_position_based_model_worked_example():
    """60 clicks of 100 + 50 examinations, and 5 of 25. Of the prior, the click rates: 0.4, and 25 / 150 at position 2."""
    estimates = estimate_by_position(EXAMPLE, estimate_examination(EXAMPLE), strength=10)
    assert estimates.unshrunken == pytest.approx([0.4, 0.2])
    assert estimates.evidence == pytest.approx([150, 25])
    priors = [(100 * 0.4 + 100 * 25 / 150) / 150, (25 / 150) / 0.5]
    assert estimates.priors == pytest.approx(priors)
    assert estimates.values == pytest.approx([(60 + 10 * priors[0]) / 160, (5 + 10 * priors[1]) / 35])


def test_ips_worked_example():
    """Weights 1 and 2. The effective sample of the first pair: (100 + 100)² / (100 + 50 · 4)."""
    examination = estimate_examination(EXAMPLE)
    estimates = estimate_by_ips(EXAMPLE, examination, strength=0)
    assert estimates.values == pytest.approx([0.4, 0.2])
    assert estimates.evidence == pytest.approx([200**2 / 300, 25])
    assert estimates.clipped == 0
    clipped = estimate_by_ips(EXAMPLE, examination, strength=0, max_weight=1.5)
    assert clipped.values == pytest.approx([(40 + 20 * 1.5) / 200, 5 * 1.5 / 50])
    assert clipped.clipped == pytest.approx(150 / 250)


def test_coec_worked_example():
    """Click rates 0.4 and 25 / 150: 60 clicks of 56.67 expected, and 5 of 8.33."""
    estimates = estimate_by_coec(EXAMPLE, strength=0)
    assert estimates.values == pytest.approx([60 / (40 + 100 / 6), 5 / (50 / 6)])
    assert estimates.evidence == pytest.approx([(40 + 100 / 6) / 0.4, (50 / 6) / 0.4])
    shrunken = estimate_by_coec(EXAMPLE, strength=10)
    assert shrunken.values == pytest.approx([(60 + 4) / (40 + 100 / 6 + 4), (5 + 4) / (50 / 6 + 4)])


def test_cascade_worked_example():
    counts = ClickCounts.build(pairs=[0, 1, 1], positions=[1, 1, 2], shown=[10, 5, 5], clicks=[5, 1, 1])
    estimates = estimate_by_cascade(counts, np.array([4, 0, 1]), strength=5)
    assert estimates.unshrunken == pytest.approx([0.4, 0.1])
    priors = [4 / 15, (5 * 4 / 15 + 5 * 1 / 5) / 10]
    assert estimates.priors == pytest.approx(priors)
    assert estimates.values == pytest.approx([(4 + 5 * priors[0]) / 15, (1 + 5 * priors[1]) / 15])


# --- simulated users ---


def test_examination_converges(counts):
    assert estimate_examination(counts) == pytest.approx(GAMMAS, abs=0.03)
    rates = counts.click_rates()
    assert (
        np.abs(rates / rates[0] - GAMMAS).max() > 0.1
    )  # better documents at the top: click rates alone are no measure


def test_examination_has_no_bias_from_rare_pairs(rare):
    """18,000 pairs with 8 searches each."""
    assert estimate_examination(click_by_position(rare, seed=4)) == pytest.approx(GAMMAS, abs=0.03)


@pytest.mark.parametrize("estimate", [estimate_by_position, estimate_by_ips])
def test_estimates_converge_to_the_true_relevance(estimate, shop, counts):
    """On average over pairs within 0.01, and a typical error of less than 0.04 with 2,000 searches of each query."""
    estimates = estimate(counts, estimate_examination(counts))
    errors = estimates.values - shop.alphas
    assert abs(errors.mean()) < 0.01
    assert np.sqrt((errors**2).mean()) < 0.04
    few = Shop(shop.relevance, [ranking[:200] for ranking in shop.rankings])
    few_counts = click_by_position(few, seed=2)
    few_errors = estimate(few_counts, estimate_examination(few_counts)).values - shop.alphas
    assert np.sqrt((few_errors**2).mean()) > 1.5 * np.sqrt((errors**2).mean())


def test_clipping_has_the_stated_bias(shop, counts):
    """With true γ and weights of at most 2, documents at positions 4 to 6 lose the share 1 − 2 γ."""
    examination = estimate_examination(counts)
    clipped = estimate_by_ips(counts, examination, strength=0, max_weight=2)
    kept = np.minimum(1, 2 * examination)[counts.positions - 1]
    expected = shop.alphas * counts.by_pair(counts.shown * kept) / counts.by_pair(counts.shown)
    assert abs((clipped.values - expected).mean()) < 0.01
    assert (clipped.values - shop.alphas).mean() < -0.02


def test_coec_underrates_documents_that_are_shown_at_the_top(shop, counts):
    """COEC has a ratio to the true relevance, which is smaller for the best document of each query than for others as relevant. The
    position-based model has no such bias."""
    best = shop.relevance == shop.relevance.max(axis=1, keepdims=True)
    at_top = np.flatnonzero(best.ravel() & (shop.alphas > 0.2))
    others = np.flatnonzero(~best.ravel() & (shop.alphas > 0.2))
    examination = estimate_examination(counts)
    for values, low, high in (
        (estimate_by_coec(counts).values, 0.6, 0.95),
        (estimate_by_position(counts, examination).values, 0.98, 1.02),
    ):
        ratios = values / shop.alphas
        assert low < ratios[at_top].mean() / ratios[others].mean() < high


def test_shrinkage_makes_rare_pairs_more_precise(rare):
    """The error falls by more than 30 %, at the price of a bias below 0.04: documents that are always at the bottom are less relevant
    than what is usual there, and are moved up."""
    counts = click_by_position(rare, seed=4)
    estimates = estimate_by_position(counts, estimate_examination(counts))
    error, unshrunken_error = (
        np.sqrt(((values - rare.alphas) ** 2).mean()) for values in (estimates.values, estimates.unshrunken)
    )
    assert error < 0.7 * unshrunken_error
    assert abs((estimates.unshrunken - rare.alphas).mean()) < 0.01
    assert 0 < (estimates.values - rare.alphas).mean() < 0.04
    # What clicks.md says of this population: a small mean error, and large ones that cancel.
    errors = (estimates.values - rare.alphas).reshape(rare.relevance.shape)
    by_rank = np.take_along_axis(errors, np.argsort(-rare.relevance, axis=1), axis=1).mean(axis=0)
    assert errors.mean() == pytest.approx(0.02, abs=0.01)
    assert error == pytest.approx(0.13, abs=0.01)
    assert by_rank[[0, -1]] == pytest.approx([-0.12, 0.14], abs=0.01)


def test_cascade_overestimates_within_its_bound():
    """Users who read to the end without being satisfied: a last click is taken for satisfaction. With 7 of 10 clicks that satisfy, the
    relevance a · s is overestimated by less than 0.08 on average, never underestimated, and in the right order."""
    shop = Shop.build(queries=60, searches=2_000, seed=5)
    estimates = estimate_by_cascade(*click_downwards(shop, 0.7, seed=6))
    errors = estimates.values - 0.7 * shop.alphas
    assert 0 < errors.mean() < 0.08
    assert errors.min() > -0.05
    assert kendalltau(estimates.values, shop.alphas).statistic > 0.85


def test_cascade_has_no_bias_if_every_click_satisfies():
    shop = Shop.build(queries=60, searches=2_000, seed=5)
    estimates = estimate_by_cascade(*click_downwards(shop, 1.0, seed=6))
    errors = estimates.values - shop.alphas
    assert abs(errors.mean()) < 0.01
    assert np.sqrt((errors**2).mean()) < 0.04


# --- what cannot be told ---


def test_documents_at_fixed_positions_are_refused():
    with pytest.raises(StatisticsError, match="different positions"):
        estimate_examination(ClickCounts.build(pairs=[0, 1, 2], positions=[1, 2, 3], shown=[9, 9, 9], clicks=[5, 3, 1]))
    with pytest.raises(StatisticsError, match="different positions"):
        estimate_examination(ClickCounts.build(pairs=[], positions=[], shown=[], clicks=[]))


def test_positions_that_cannot_be_compared_are_left_out():
    """Positions 3 and 4 share a pair with each other alone, and have fewer searches; nothing was clicked at position 5."""
    counts = ClickCounts.build(
        pairs=[0, 0, 1, 1, 2],
        positions=[1, 2, 3, 4, 5],
        shown=[100, 100, 10, 10, 8],
        clicks=[40, 20, 2, 1, 0],
    )
    examination = estimate_examination(counts)
    assert examination == pytest.approx([1, 0.5, np.nan, np.nan, 0], nan_ok=True)
    estimates = estimate_by_position(counts, examination)
    assert estimates.evidence == pytest.approx([150, 0, 0])
    assert np.isfinite(estimates.values).all()
    assert np.isfinite(estimate_by_ips(counts, examination).values).all()


def test_clicks_on_one_side_only_are_not_comparable():
    """Whatever is shown at both positions is only clicked at the first: γ of the second would be 0, or anything."""
    with pytest.raises(StatisticsError, match="different positions"):
        estimate_examination(ClickCounts.build(pairs=[0, 0, 1], positions=[1, 2, 2], shown=[9, 9, 9], clicks=[5, 0, 3]))


# --- invariances ---

tables = st.integers(2, 5).flatmap(
    lambda pairs: st.lists(
        st.tuples(*[st.integers(0, 30)] * 3), min_size=pairs, max_size=pairs
    )  # searches at three positions; a third of them clicked, and one more
)


def table_counts(shown):
    shown = np.array(shown, dtype=float) + 1
    return shown, np.ceil(shown / 3)


def estimate_all(counts, strength=10.0):
    examination = estimate_examination(counts)
    return [
        estimate_by_position(counts, examination, strength=strength).values,
        estimate_by_ips(counts, examination, strength=strength).values,
        estimate_by_coec(counts, strength=strength).values,
    ]


@given(tables, st.randoms(use_true_random=False))
def test_order_of_rows_and_numbers_of_pairs_do_not_matter(table, random):
    shown, clicks = table_counts(table)
    order = list(range(len(shown)))
    random.shuffle(order)
    for values, shuffled in zip(
        estimate_all(counts_of(shown, clicks)), estimate_all(counts_of(shown[order], clicks[order])), strict=True
    ):
        assert values[order] == pytest.approx(shuffled, abs=1e-6)


@given(tables, st.integers(2, 9))
def test_more_of_the_same_changes_nothing_if_the_prior_grows_with_it(table, times):
    shown, clicks = table_counts(table)
    for values, more in zip(
        estimate_all(counts_of(shown, clicks)),
        estimate_all(counts_of(shown * times, clicks * times), strength=10.0 * times),
        strict=True,
    ):
        assert values == pytest.approx(more, abs=1e-6)


@given(tables)
def test_rows_of_one_pair_and_position_are_added_up(table):
    shown, clicks = table_counts(table)
    pairs, positions = np.nonzero(shown)
    rows = {"pairs": [*pairs, *pairs], "positions": [*(positions + 1)] * 2}
    twice = ClickCounts.build(**rows, shown=[*shown.ravel()] * 2, clicks=[*clicks.ravel()] * 2)
    for values, added in zip(estimate_all(counts_of(shown * 2, clicks * 2)), estimate_all(twice), strict=True):
        assert values == pytest.approx(added, abs=1e-6)


@given(tables)
def test_clicks_in_proportion_to_examination_mean_equal_documents(table):
    """Each document is clicked in the same share of its searches at a position: no model finds a difference."""
    shown = (np.array(table, dtype=float) + 1) * 20
    counts = counts_of(shown, shown * np.array([0.6, 0.3, 0.15]))
    for values, expected in zip(estimate_all(counts), (0.6, 0.6, 1.0), strict=True):
        assert values == pytest.approx(np.full(len(shown), expected), abs=1e-6)
