"""Trees: trained by LightGBM, and written for search engines, each of which scores like a small evaluator of its rule."""

import base64
import gzip
import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relevancy import engines
from relevancy.optional.features import model_files, trees
from relevancy.optional.features.cross_fitting import cross_fit, summarize
from relevancy.optional.features.feature_text import Feature
from relevancy.optional.features.model_files import FORMATS, NotWritable, next_float32, solr_threshold
from relevancy.optional.features.orders import OrderScorer
from relevancy.optional.features.trees import Leaf, Node, Tree, floor_float32, from_json, to_json

from .test_files import make_dataset
from .test_linear import planted

FEATURES = [
    Feature("title", "query", '{"match": {"title": "#$query##"}}'),
    Feature("body", "query", '{"match": {"body": "#$query##"}}'),
    Feature("votes", "number", "votes"),
]
SOLR_FEATURES = [
    Feature("title", "query", "{!edismax qf=title}#$query##"),
    Feature("body", "query", "{!edismax qf=body}#$query##"),
    Feature("votes", "number", "votes"),
]
float32 = np.float32


# --- what each product computes, by its own rule ---


def solr_score(model: Mapping[str, Any], document: Mapping[str, float]) -> float:
    """Solr: numbers are strings, and 1e-6 is added to a threshold when it is read; left if the value is at most it."""

    def walk(node: Mapping[str, Any]) -> float:
        if "feature" not in node:
            return float(node["value"])
        assert all(isinstance(node[name], str) for name in ("feature", "threshold"))
        threshold = float32(float32(node["threshold"]) + float32(1e-6))
        return walk(node["left"] if float32(document[node["feature"]]) <= threshold else node["right"])

    return sum(float(tree["weight"]) * walk(tree["root"]) for tree in model["params"]["trees"])


def xgboost_score(model: Mapping[str, Any], document: Mapping[str, float]) -> float:
    """OpenSearch and the plugin of Elasticsearch: to “yes” if the threshold is above the value."""

    def walk(node: Mapping[str, Any]) -> float:
        if "leaf" in node:
            return float(node["leaf"])
        children = {child["nodeid"]: child for child in node["children"]}
        is_below = float32(node["split_condition"]) > float32(document[node["split"]])
        return walk(children[node["yes"] if is_below else node["no"]])

    definition = json.loads(model["model"]["model"]["definition"])
    return sum(walk(tree) for tree in definition["splits"])


def elasticsearch_score(model: Mapping[str, Any], document: Mapping[str, float]) -> float:
    """Elasticsearch: nodes by index, `lte`, in eight bytes."""
    content = json.loads(gzip.decompress(base64.b64decode(model["compressed_definition"])))
    ensemble = content["trained_model"]["ensemble"]
    total = 0.0
    weights = ensemble["aggregate_output"]["weighted_sum"]["weights"]
    for weight, member in zip(weights, ensemble["trained_models"], strict=True):
        nodes = {node["node_index"]: node for node in member["tree"]["tree_structure"]}
        names = member["tree"]["feature_names"]
        node = nodes[0]
        while "leaf_value" not in node:
            assert node["decision_type"] == "lte"
            value = float(float32(document[names[node["split_feature"]]]))
            node = nodes[node["left_child"] if value <= node["threshold"] else node["right_child"]]
        total += weight * node["leaf_value"]
    return total


EVALUATORS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, float]], float]] = {
    "solr": solr_score,
    "opensearch": xgboost_score,
    "elasticsearch": elasticsearch_score,
}
thresholds = st.one_of(st.just(0.0), st.floats(2**-10, 1000, width=32))


def tree_of(depth: int) -> st.SearchStrategy[Tree]:
    leaf = st.builds(Leaf, st.floats(-10, 10, width=32))
    if not depth:
        return leaf
    inner = tree_of(depth - 1)
    return st.one_of(leaf, st.builds(Node, st.integers(0, 2), thresholds, inner, inner))


def thresholds_in(tree: Tree) -> list[float]:
    return [] if isinstance(tree, Leaf) else [tree.threshold, *thresholds_in(tree.left), *thresholds_in(tree.right)]


def vectors_around(ensemble: Sequence[Tree], count: int, seed: int) -> Any:
    """Random vectors of three features, of which many lie exactly on a threshold, and just above and below it."""
    generator = np.random.Generator(np.random.PCG64(seed))
    values = generator.gamma(1.0, 100.0, (count, 3)).astype(np.float32)
    on = np.array([t for tree in ensemble for t in thresholds_in(tree)] or [0.0], np.float32)
    near = np.concatenate([on, np.nextafter(on, float32(np.inf)), np.nextafter(on, float32(-np.inf)), [float32(0)]])
    picked = generator.random(values.shape) < 0.7
    values[picked] = generator.choice(near, int(picked.sum()))
    return values.astype(np.float64)


def check(product: str, ensemble: Sequence[Tree], count: int, seed: int = 1) -> None:
    features = SOLR_FEATURES if product == "solr" else FEATURES
    model = json.loads(FORMATS[product].write("relevancy_7", features, ensemble))
    values = vectors_around(ensemble, count, seed)
    names = [feature.name for feature in features]
    found = [EVALUATORS[product](model, dict(zip(names, row, strict=True))) for row in values.tolist()]
    assert found == pytest.approx(trees.predict(ensemble, values).tolist(), abs=1e-9)


@pytest.mark.parametrize("product", FORMATS)
@settings(max_examples=40, deadline=None)
@given(ensemble=st.lists(tree_of(3), min_size=1, max_size=4), seed=st.integers(0, 2**31))
def test_any_ensemble_scores_alike_in_every_product(product: str, ensemble: list[Tree], seed: int) -> None:
    check(product, ensemble, 30, seed)


@pytest.mark.parametrize("product", FORMATS)
def test_a_trained_ensemble_scores_alike_on_1000_vectors(product: str) -> None:
    dataset = planted(40, [1.0, 2.0, 0.5], noise=0.3)
    check(product, trees.train(dataset, np.ones(40, np.bool_), seed=1), 1000)


def test_the_trees_are_those_of_lightgbm() -> None:
    lightgbm: Any = importlib.import_module("lightgbm")
    dataset = planted(40, [1.0, 2.0, 0.5], noise=0.3)
    made = []

    def keep(*arguments: Any, **options: Any) -> Any:
        made.append(train(*arguments, **options))
        return made[-1]

    train = lightgbm.train
    with patch.object(lightgbm, "train", keep):
        ensemble = trees.train(dataset, np.ones(40, np.bool_), seed=1)
    (booster,) = made
    values = dataset.filled.astype(np.float32).astype(np.float64)
    assert trees.predict(ensemble, values) == pytest.approx(booster.predict(values), abs=1e-9)
    again = trees.train(dataset, np.ones(40, np.bool_), seed=1)
    assert [to_json(tree) for tree in again] == [to_json(tree) for tree in ensemble]


def test_trees_learn_what_no_sum_can() -> None:
    # The grade depends on how near the only feature is to 2: no weight of it orders the documents so.
    base = planted(60, [1.0], noise=0.0)
    nearness = -np.abs(base.values[:, 0] - 2.0).reshape(60, 10)
    ranks = np.argsort(np.argsort(-nearness, axis=1), axis=1)
    grades = np.choose(np.minimum(ranks, 3), [3, 2, 1, 0]).astype(float).ravel()
    dataset = make_dataset(base.values.tolist(), grades.tolist(), [10] * 60)
    scorer = OrderScorer(dataset, "nDCG@5")
    fitted = cross_fit(
        dataset,
        scorer,
        lambda queries: trees.train(dataset, queries, seed=3),
        lambda ensemble: trees.predict(ensemble, dataset.filled),
        seed=3,
    )
    summary = summarize(dataset, fitted)
    assert summary["is_better"]
    assert summary["seen"] > summary["cross_fitted"]


def test_without_lightgbm_it_says_how_to_install_it() -> None:
    dataset = planted(2, [1.0], noise=0.1)
    with (
        patch.object(trees.importlib, "import_module", side_effect=ImportError),
        pytest.raises(trees.TreesUnavailable, match=r"pip install relevancy\[trees\]"),
    ):
        trees.train(dataset, np.ones(2, np.bool_), seed=1)


@given(tree_of(4))
def test_json_of_a_tree_is_read_again(tree: Tree) -> None:
    assert from_json(json.loads(json.dumps(to_json(tree)))) == tree


@given(st.floats(-1e6, 1e6))
def test_floor_float32(value: float) -> None:
    floor = floor_float32(value)
    assert float(float32(floor)) == floor <= value < next_float32(floor)


@given(st.floats(2**-16, 2**20, width=32))
def test_solr_adds_its_slack_to_what_was_taken_off(value: float) -> None:
    assert float32(float32(solr_threshold(value)) + float32(1e-6)) == float32(value)


@given(st.floats(-(2**20), 2**-16, width=32))
def test_solr_reads_hardly_more_for_negative_thresholds_and_near_0(value: float) -> None:
    read = float(float32(float32(solr_threshold(value)) + float32(1e-6)))
    assert value <= read <= value + max(2e-13, 2 * (next_float32(value) - value))
    assert solr_threshold(0.0) == -float32(1e-6)


def test_features_go_with_the_model() -> None:
    store = model_files.solr_features("relevancy_7", SOLR_FEATURES)
    assert store[0] == {
        "store": "relevancy_7",
        "name": "title",
        "class": "org.apache.solr.ltr.feature.SolrFeature",
        "params": {"q": "{!edismax qf=title}${user_query}"},
    }
    assert (store[2]["class"].rpartition(".")[2], store[2]["params"]) == ("FieldValueFeature", {"field": "votes"})
    of_plugin = model_files.plugin_features(FEATURES)["featureset"]["features"]
    assert of_plugin[0]["template"] == {"match": {"title": "{{keywords}}"}}
    assert of_plugin[2]["template"]["function_score"]["field_value_factor"] == {"field": "votes", "missing": 0}
    for key, form in FORMATS.items():
        commands = form.commands("relevancy_7", SOLR_FEATURES if key == "solr" else FEATURES)
        assert all(text in commands for text in ("curl", "model.json", "relevancy_7"))


@pytest.mark.parametrize(
    ("product", "text"),
    [
        ("solr", "{!edismax qf=title}#$keyword1##"),
        ("solr", "{!edismax qf=title v=$w}&w=#$query##"),
        ("opensearch", '{"match": {"title": "#$qOption.word##"}}'),
    ],
)
def test_slots_that_the_engine_cannot_fill_are_refused(product: str, text: str) -> None:
    with pytest.raises(NotWritable, match="title has"):
        FORMATS[product].commands("relevancy_7", [Feature("title", "query", text)])
    assert set(FORMATS[product].engines) <= {engine.key for engine in engines.available()}
