"""Ensembles of regression trees: trained by LightGBM's LambdaRank, kept as plain data, and written out for search engines.

A node sends a document to the left if its value is at most the threshold, in four bytes as engines compute. A value that is missing
is 0, in training and in engines: OpenSearch before 3.8 ignored the directions of missing values, and Solr gives 0 for a query that
does not match.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relevancy.scoring.arrays import BoolArray, FloatArray

from .dataset import Dataset
from .files import whole_grades

TREES = 100
SETTINGS: Mapping[str, Any] = {
    "objective": "lambdarank",
    "num_leaves": 15,
    "learning_rate": 0.1,
    "min_data_in_leaf": 10,
    "min_sum_hessian_in_leaf": 1e-3,
    "zero_as_missing": False,
    "use_missing": False,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbosity": -1,
}
HOW_TO_INSTALL = (
    "Trees are trained by LightGBM, which is not installed. Install the extra “trees”, such as `pip install relevancy[trees]`, or "
    "`pip install lightgbm`, and start the worker again."
)


class TreesUnavailable(RuntimeError):
    """LightGBM is not installed. The message says how to install it."""


@dataclass(frozen=True)
class Leaf:
    """value: what the tree adds for documents that end here."""

    value: float


@dataclass(frozen=True)
class Node:
    """A document goes to the left if the value of its feature, from 0, is at most the threshold."""

    feature: int
    threshold: float
    left: Tree
    right: Tree


type Tree = Leaf | Node


def train(
    dataset: Dataset, queries: BoolArray, *, seed: int, heartbeat: Callable[[], object] = lambda: None
) -> list[Tree]:
    """Returns an ensemble that ranks the rated documents of some queries by their grades. Raises `TreesUnavailable`.

    heartbeat: called after each tree.
    """
    try:
        lightgbm: Any = importlib.import_module("lightgbm")
    except (ImportError, OSError) as error:
        raise TreesUnavailable(HOW_TO_INSTALL) from error
    chosen = dataset.is_rated & queries[dataset.queries]
    grades = np.array(whole_grades(dataset))[chosen]
    of_query = np.bincount(dataset.queries[chosen], minlength=len(queries))
    data = lightgbm.Dataset(
        dataset.filled[chosen],
        label=grades,
        group=of_query[of_query > 0],
        weight=dataset.weights[dataset.queries[chosen]],
        free_raw_data=False,
    )
    gains = [2**place - 1 for place in range(len(dataset.scale.grades))]
    settings = {**SETTINGS, "seed": seed, "label_gain": gains}
    booster = lightgbm.train(settings, data, num_boost_round=TREES, callbacks=[lambda _: heartbeat()])
    return [_read(tree["tree_structure"]) for tree in booster.dump_model()["tree_info"]]


def _read(node: Mapping[str, Any]) -> Tree:
    if "split_index" not in node:
        return Leaf(float(node["leaf_value"]))
    if node["decision_type"] != "<=":
        raise ValueError(f"LightGBM made a split of the kind {node['decision_type']!r}.")
    # Engines compare four bytes: the largest such number that is not above the threshold separates the same values.
    return Node(
        int(node["split_feature"]),
        floor_float32(float(node["threshold"])),
        _read(node["left_child"]),
        _read(node["right_child"]),
    )


def floor_float32(value: float) -> float:
    """Returns the largest number of four bytes that is not above a value."""
    near = np.float32(value)
    return float(near if float(near) <= value else np.nextafter(near, np.float32(-np.inf)))


def predict(trees: Sequence[Tree], values: FloatArray) -> FloatArray:
    """Returns [D] the sums of the trees for the values of features, [D × F], without NaN."""
    return np.sum([_predict(tree, values) for tree in trees], axis=0) if trees else np.zeros(len(values))


def _predict(tree: Tree, values: FloatArray) -> FloatArray:
    if isinstance(tree, Leaf):
        return np.full(len(values), tree.value)
    goes_left = values[:, tree.feature] <= tree.threshold
    result = np.empty(len(values))
    result[goes_left] = _predict(tree.left, values[goes_left])
    result[~goes_left] = _predict(tree.right, values[~goes_left])
    return result


def to_json(tree: Tree) -> list[Any]:
    """Returns a tree as JSON: `[value]` or `[feature, threshold, left, right]`."""
    if isinstance(tree, Leaf):
        return [tree.value]
    return [tree.feature, tree.threshold, to_json(tree.left), to_json(tree.right)]


def from_json(content: Sequence[Any]) -> Tree:
    """Returns what `to_json` wrote."""
    if len(content) == 1:
        return Leaf(content[0])
    return Node(content[0], content[1], from_json(content[2]), from_json(content[3]))
