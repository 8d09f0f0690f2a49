"""Ensembles of trees as search engines load them, with the commands that load them. Nothing here writes to an engine.

LightGBM and Solr send a value to the left that is at most the threshold, XGBoost's format one that is below it: the threshold becomes
the next larger number of four bytes there, so that the same values go to the left. Solr adds 1e-6 to each threshold that it reads,
which is taken off before.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .feature_text import Feature
from .models import FeatureModel
from .trees import Leaf, Tree, from_json

SOLR_SLACK = np.float32(1e-6)  # of `MultipleAdditiveTreesModel.RegressionTreeNode`


@dataclass(frozen=True)
class ModelFormat:
    """A product that can load trees. label, notes: for people. engines: whose language the features must be in.

    write: returns the content of a file, from the name of the model, the features and the trees. commands: that load it, to copy.
    """

    label: str
    engines: Sequence[str]
    suffix: str
    notes: str
    write: Callable[[str, Sequence[Feature], Sequence[Tree]], str]
    commands: Callable[[str, Sequence[Feature]], str]


def write_solr(name: str, features: Sequence[Feature], trees: Sequence[Tree]) -> str:
    """Returns a `MultipleAdditiveTreesModel`: numbers are strings, and a value on the threshold goes to the left."""

    def node(tree: Tree) -> dict[str, Any]:
        if isinstance(tree, Leaf):
            return {"value": _text(tree.value)}
        return {
            "feature": features[tree.feature].name,
            "threshold": _text(solr_threshold(tree.threshold)),
            "left": node(tree.left),
            "right": node(tree.right),
        }

    model = {
        "store": name,
        "name": name,
        "class": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel",
        "features": [{"name": feature.name} for feature in features],
        "params": {"trees": [{"weight": "1", "root": node(tree)} for tree in trees]},
    }
    return json.dumps(model, ensure_ascii=False, indent=1) + "\n"


def solr_features(name: str, features: Sequence[Feature]) -> list[dict[str, Any]]:
    """Returns the feature store of Solr: queries read the text of the user from `efi.user_query`."""
    return [
        {
            "store": name,
            "name": feature.name,
            "class": f"org.apache.solr.ltr.feature.{'FieldValueFeature' if feature.kind == 'number' else 'SolrFeature'}",
            "params": {"field": feature.text}
            if feature.kind == "number"
            else {"q": _with_user_text(feature, "${user_query}", "&")},
        }
        for feature in features
    ]


def write_xgboost(name: str, features: Sequence[Feature], trees: Sequence[Tree]) -> str:
    """Returns the definition of a `model/xgboost+json`, of OpenSearch and of the plugin of Elasticsearch: a value below the threshold
    goes to the left."""

    def node(tree: Tree, number: Iterator[int]) -> dict[str, Any]:
        own = next(number)
        if isinstance(tree, Leaf):
            return {"nodeid": own, "leaf": tree.value}
        left, right = node(tree.left, number), node(tree.right, number)
        return {
            "nodeid": own,
            "split": features[tree.feature].name,
            "split_condition": next_float32(tree.threshold),
            "yes": left["nodeid"],
            "no": right["nodeid"],
            "missing": (left if tree.threshold >= 0 else right)["nodeid"],
            "children": [left, right],
        }

    splits = [node(tree, iter(range(2**31))) for tree in trees]
    definition = json.dumps({"objective": "rank:ndcg", "splits": splits}, ensure_ascii=False)
    model = {"model": {"name": name, "model": {"type": "model/xgboost+json", "definition": definition}}}
    return json.dumps(model, ensure_ascii=False, indent=1) + "\n"


def plugin_features(features: Sequence[Feature]) -> dict[str, Any]:
    """Returns the feature set of the plugin: templates read the text of the user from the parameter `keywords`."""
    return {
        "featureset": {
            "features": [
                {
                    "name": feature.name,
                    "params": ["keywords"],
                    "template_language": "mustache",
                    "template": _number_query(feature)
                    if feature.kind == "number"
                    else json.loads(_with_user_text(feature, "{{keywords}}"), strict=False),
                }
                for feature in features
            ]
        }
    }


def write_elasticsearch(name: str, features: Sequence[Feature], trees: Sequence[Tree]) -> str:
    """Returns the body of `PUT _ml/trained_models`: base64 of gzip of JSON of an ensemble, whose nodes decide by `lte`."""

    def nodes(tree: Tree) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []

        def add(part: Tree) -> int:
            index = len(found)
            found.append({"node_index": index})
            if isinstance(part, Leaf):
                found[index]["leaf_value"] = part.value
                return index
            found[index] |= {
                "split_feature": part.feature,
                "threshold": part.threshold,
                "decision_type": "lte",
                "default_left": part.threshold >= 0,
            }
            found[index]["left_child"] = add(part.left)
            found[index]["right_child"] = add(part.right)
            return index

        add(tree)
        return found

    names = [feature.name for feature in features]
    members = [
        {"tree": {"feature_names": names, "tree_structure": nodes(tree), "target_type": "regression"}} for tree in trees
    ]
    ensemble = {
        "feature_names": names,
        "trained_models": members,
        "aggregate_output": {"weighted_sum": {"weights": [1.0] * len(members)}},
        "target_type": "regression",
    }
    definition = json.dumps({"trained_model": {"ensemble": ensemble}}, ensure_ascii=False)
    packed = base64.b64encode(gzip.compress(definition.encode(), mtime=0)).decode()
    extractors = [
        {
            "query_extractor": {
                "feature_name": feature.name,
                "query": _number_query(feature)
                if feature.kind == "number"
                else json.loads(_with_user_text(feature, "{{keywords}}"), strict=False),
            }
        }
        for feature in features
    ]
    body = {
        "inference_config": {"learning_to_rank": {"feature_extractors": extractors}},
        "input": {"field_names": names},
        "compressed_definition": packed,
    }
    return json.dumps(body, ensure_ascii=False, indent=1) + "\n"


class NotWritable(ValueError):
    """Features that a product cannot compute by itself. The message is written for users."""


def _with_user_text(feature: Feature, name: str, *forbidden: str) -> str:
    """Returns the query of a feature, in which the product fills in the text of the user."""
    text = feature.text.replace("#$query##", name)
    for part in ("#$", *forbidden):
        if part in text:
            raise NotWritable(
                f"{feature.name} has “{part}” in its query: only #$query## can be filled in by the engine itself."
            )
    return text


def _number_query(feature: Feature) -> dict[str, Any]:
    return {
        "function_score": {
            "query": {"match_all": {}},
            "field_value_factor": {"field": feature.text, "missing": 0},
            "boost_mode": "replace",
        }
    }


def _solr_commands(name: str, features: Sequence[Feature]) -> str:
    store = json.dumps(solr_features(name, features), ensure_ascii=False, indent=1)
    json_type = "-H 'Content-Type: application/json'"
    return (
        f"cat > features.json <<'END'\n{store}\nEND\n"
        f'curl -X PUT {json_type} --data-binary @features.json "$SOLR/$CORE/schema/feature-store"\n'
        f'curl -X PUT {json_type} --data-binary @model.json "$SOLR/$CORE/schema/model-store"\n'
        'curl "$SOLR/admin/cores?action=RELOAD&core=$CORE"\n'
        f"# then, in a query template: &rq={{!ltr model={name} reRankDocs=100 efi.user_query=$text}}&text=#$query##\n"
    )


def _plugin_commands(name: str, features: Sequence[Feature]) -> str:
    feature_set = json.dumps(plugin_features(features), ensure_ascii=False, indent=1)
    json_type = "-H 'Content-Type: application/json'"
    sltr = f'{{"sltr": {{"model": "{name}", "params": {{"keywords": "#$query##"}}}}}}'
    return (
        f"cat > features.json <<'END'\n{feature_set}\nEND\n"
        'curl -X PUT "$ENGINE/_ltr"\n'
        f'curl -X POST {json_type} --data-binary @features.json "$ENGINE/_ltr/_featureset/{name}"\n'
        f'curl -X POST {json_type} --data-binary @model.json "$ENGINE/_ltr/_featureset/{name}/_createmodel"\n'
        f'# then, in a query template: "rescore": {{"window_size": 100, "query": {{"rescore_query": {sltr}, '
        '"query_weight": 0, "rescore_query_weight": 1}}\n'
    )


def _elasticsearch_commands(name: str, features: Sequence[Feature]) -> str:
    rescore = f'{{"model_id": "{name}", "params": {{"keywords": "#$query##"}}}}'
    return (
        f"curl -X PUT -H 'Content-Type: application/json' --data-binary @model.json \"$ENGINE/_ml/trained_models/{name}\"\n"
        f'# then, in a query template: "rescore": {{"window_size": 100, "learning_to_rank": {rescore}}}\n'
    )


FORMATS: Mapping[str, ModelFormat] = {
    "solr": ModelFormat(
        "Solr, module ltr",
        ("solr",),
        "-solr.json",
        "All features are in one store. RELOAD after a change.",
        write_solr,
        _solr_commands,
    ),
    "opensearch": ModelFormat(
        "OpenSearch 2.19 or later, Elasticsearch with the LTR plugin",
        ("opensearch", "elasticsearch"),
        "-xgboost.json",
        "The features are copied into the model: a change of them needs a new model.",
        write_xgboost,
        _plugin_commands,
    ),
    "elasticsearch": ModelFormat(
        "Elasticsearch 8.12 or later",
        ("elasticsearch",),
        "-elasticsearch.json",
        "Needs a paid licence.",
        write_elasticsearch,
        _elasticsearch_commands,
    ),
}


@dataclass(frozen=True)
class Product:
    """A product that loads trees. commands: to copy. reason: why the features cannot be written for it; empty if they can."""

    key: str
    format: ModelFormat
    commands: str = ""
    reason: str = ""


def _name(model: FeatureModel) -> str:
    """Returns the name that a model and its features have in a product, which takes each name only once."""
    return f"relevancy_{model.pk}"


def list_products(model: FeatureModel) -> list[Product]:
    """Returns the products that load the trees of a model: those whose language its features are in; none of a sum."""
    if "trees" not in model.content:
        return []
    products = []
    for key, form in FORMATS.items():
        if model.log.config["engine"] in form.engines:
            try:
                products.append(Product(key, form, commands=form.commands(_name(model), model.log.feature_set.items)))
            except ValueError as error:
                products.append(Product(key, form, reason=str(error)))
    return products


def write_model(model: FeatureModel, key: str) -> str:
    """Returns the trees of a model as a product loads them. Raises `NotWritable`."""
    products = {product.key: product for product in list_products(model)}
    if key not in products:
        raise NotWritable(f"{model} cannot be written for this product. Possible are: {', '.join(products) or 'none'}.")
    if products[key].reason:
        raise NotWritable(products[key].reason)
    trees = [from_json(tree) for tree in model.content["trees"]]
    return FORMATS[key].write(_name(model), model.log.feature_set.items, trees)


def solr_threshold(value: float) -> float:
    """Returns the number of four bytes that is the threshold once Solr has added its slack. There is none for some
    negative thresholds, and for some below 1e-5: then the one that leads to the next larger number, by at most 2e-13 there."""
    wanted, near = np.float32(value), np.float32(np.float32(value) - SOLR_SLACK)
    for candidate in (
        np.nextafter(np.nextafter(near, np.float32(-np.inf)), np.float32(-np.inf)),
        np.nextafter(near, np.float32(-np.inf)),
        near,
        np.nextafter(near, np.float32(np.inf)),
        np.nextafter(np.nextafter(near, np.float32(np.inf)), np.float32(np.inf)),
    ):
        if np.float32(candidate + SOLR_SLACK) >= wanted:
            return float(candidate)
    return float(wanted)


def next_float32(value: float) -> float:
    """Returns the smallest number of four bytes that is above one."""
    return float(np.nextafter(np.float32(value), np.float32(np.inf)))


def _text(value: float) -> str:
    """Returns a number as a string from which Solr reads the same four bytes."""
    return repr(float(value))
