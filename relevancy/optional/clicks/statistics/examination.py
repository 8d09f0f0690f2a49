"""How likely users are to look at a position, from documents that were shown at several positions.

In the position-based model, a document is clicked if the user looks at its position, with the probability `γ_r`, and finds it
attractive, with the probability `α_p`: `E[clicks_pr] = shown_pr γ_r α_p`. Only ratios of γ can be estimated; γ of the first position
is 1. A document that is always shown at the same position says nothing about them.

The estimate solves `Σ_p (clicks_pr − T_p shown_pr γ_r / Σ_s shown_ps γ_s) = 0` for each position r, with `T_p` the clicks of a pair.
These terms have the mean 0 whatever α is, so that pairs with few searches do not bias γ, as they do in an expectation maximisation
over γ and α. The equations are those of a Poisson regression with fixed effects of the pairs (Hausman, Hall & Griliches 1984; for other
distributions: Wooldridge 1999). Their solution is unique and finite if each position can be reached from each other one over
documents that were shown at one and clicked at the other (Ford 1957); positions outside the largest such group are left out.

Sources of the model: Craswell et al., "An experimental comparison of click position-bias models", 2008; Chuklin, Markov & de Rijke,
"Click Models for Web Search", 2015.
"""

from typing import Any

import numpy as np
from scipy import sparse

from relevancy.statistics.arrays import FloatArray
from relevancy.statistics.errors import StatisticsError

from .counts import ClickCounts

MAX_ITERATIONS = 100
TOLERANCE = 1e-10
MIN_STEP = 1e-6


def estimate_examination(counts: ClickCounts) -> FloatArray:
    """Returns [R] γ: how likely users look at each position, relative to the first one that can be compared. NaN for positions that
    cannot be compared with it, and 0 for those without a click. Raises `StatisticsError` if no two positions can be compared."""
    group = _comparable_positions(counts)
    if len(group) < 2:
        raise StatisticsError(
            "The log has no documents that were shown at different positions and clicked there, so that attractive documents cannot be "
            "told from attractive positions. Choose clicks over expected clicks."
        )
    shown, clicks = (_matrix(counts, values)[:, group] for values in (counts.shown, counts.clicks))
    clicked = np.asarray(clicks.sum(axis=1)).ravel()
    rows = np.flatnonzero(clicked)
    logarithms = _solve(shown[rows].tocsr(), clicked[rows], np.asarray(clicks.sum(axis=0)).ravel())
    probabilities = np.full(counts.depth, np.nan)
    probabilities[group] = np.exp(logarithms)
    has_click, was_shown = counts.by_position(counts.clicks) > 0, counts.by_position(counts.shown) > 0
    probabilities[~has_click & was_shown] = 0.0
    return probabilities


def _matrix(counts: ClickCounts, values: FloatArray) -> Any:
    """Returns [P, R]."""
    return sparse.csc_matrix((values, (counts.pairs, counts.positions - 1)), shape=(counts.size, counts.depth))


def _comparable_positions(counts: ClickCounts) -> Any:
    """Returns the indices of the largest group of positions with a click, by searches, that can be compared with each other."""
    shown, clicks = (_matrix(counts, (values > 0).astype(np.float64)) for values in (counts.shown, counts.clicks))
    links = shown.T @ clicks  # from where a document was shown to where it was clicked
    _, groups = sparse.csgraph.connected_components(links, directed=True, connection="strong")
    has_click = counts.by_position(counts.clicks) > 0
    searches = (
        np.bincount(groups, weights=counts.by_position(counts.shown) * has_click) if counts.depth else np.zeros(0)
    )
    if not searches.any():
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero((groups == int(searches.argmax())) & has_click)


def _solve(shown: Any, clicked: FloatArray, totals: FloatArray) -> FloatArray:
    """Returns [G] log γ with the first one 0: Newton's method on a concave function, with halved steps where one goes too far.

    shown: [pairs, G] sparse, of pairs with a click. clicked: [pairs] clicks of a pair. totals: [G] clicks at a position.
    """
    logarithms = np.zeros(shown.shape[1])
    value = _likelihood(shown, clicked, totals, logarithms)
    for _ in range(MAX_ITERATIONS):
        weighted = shown @ sparse.diags(np.exp(logarithms))
        shares = sparse.diags(1.0 / np.asarray(weighted.sum(axis=1)).ravel()) @ weighted
        expected = shares.T @ clicked
        gradient = (totals - expected)[1:]
        curvature = (np.diag(expected) - (shares.T @ sparse.diags(clicked) @ shares).toarray())[1:, 1:]
        if np.abs(gradient).max() <= TOLERANCE * totals.sum():
            break
        direction = np.concatenate([[0.0], np.linalg.solve(curvature, gradient)])
        step = 1.0
        while step > MIN_STEP:
            moved = logarithms + step * direction
            moved_value = _likelihood(shown, clicked, totals, moved)
            if moved_value >= value:
                break
            step /= 2
        else:
            break  # no step is better: this is the solution as far as floats can tell
        logarithms, value = moved, moved_value
    return logarithms


def _likelihood(shown: Any, clicked: FloatArray, totals: FloatArray, logarithms: FloatArray) -> float:
    """Returns the logarithm of the likelihood of the positions of all clicks, given how many clicks each pair has."""
    with np.errstate(over="ignore"):
        sums = shown @ np.exp(logarithms)
    if not np.isfinite(sums).all():
        return -np.inf
    return float(totals @ logarithms - clicked @ np.log(sums))
