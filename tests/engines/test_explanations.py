"""Explanations, on trees that real engines returned for one film and the query “star wars”."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevancy.engines.explanations import (
    contributions,
    failed_clauses,
    left_out,
    matching_part,
    parse_explanation,
)
from relevancy.engines.limits import limit_tree
from relevancy.engines.types import ExplanationNode, FailedClause

TREES: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "data" / "explanations.json").read_text())
LARGEST = {
    "solr dismax": ("title:war", 52),
    "solr boost function": ("title:war × log(float(votes)=19.5)", 73),
    "solr constant": ("title:star", 67),
    "elasticsearch7 dismax": ("title:wars", 53),
    "elasticsearch7 function": ("title:wars × field value function: log1p(doc['votes'].value * factor=1.0)", 88),
    "elasticsearch9 dismax": ("title:wars", 53),
    "elasticsearch9 function sum": ("field value function: none(doc['votes'].value * factor=1.0)", 93),
    "elasticsearch9 script": ("title:wars × script", 88),
    "opensearch3 dismax": ("title:wars", 53),
    "opensearch3 function": ("title:wars × field value function: log1p(doc['votes'].value * factor=1.0)", 88),
    "opensearch3 constant": ("title:star wars", 50),
    "embedded dismax": ("title:war", 52),
    "embedded fuzzy": ("title:star~1", 38),
}


def node(value: float, description: str, *details: dict[str, Any]) -> dict[str, Any]:
    return {"value": value, "description": description, "details": list(details)}


def weight(value: float, what: str) -> dict[str, Any]:
    return node(value, f"weight({what} in 7) [BM25Similarity], result of:", node(2.2, "boost"), node(0.5, "idf"))


def values_by_label(tree: Any) -> dict[str, float]:
    return {part.label: round(part.value, 6) for part in contributions(tree)}


@pytest.mark.parametrize("name", TREES)
def test_contributions_of_real_trees(name: str) -> None:
    score, tree = TREES[name]["score"], TREES[name]["tree"]
    parts = contributions(tree)
    assert math.fsum(part.share for part in parts) == pytest.approx(1)
    assert math.fsum(part.value for part in parts) == pytest.approx(score, rel=1e-3)
    label, percent = LARGEST[name]
    assert (parts[0].label, round(parts[0].share * 100)) == (label, percent)
    assert [part.share for part in parts] == sorted((part.share for part in parts), reverse=True)


def test_contributions_name_field_and_term() -> None:
    parts = contributions(TREES["solr dismax"]["tree"])
    assert [(part.field, part.term) for part in parts] == [
        ("title", "war"), ("title", '"star war"'), ("title", "star"), ("overview", "war"), ("overview", "star"),
    ]  # fmt: skip


def test_contributions_of_the_same_term_are_merged() -> None:
    tree = node(3.0, "sum of:", weight(1.0, "title:star"), node(2.0, "sum of:", weight(2.0, "title:star")))
    assert values_by_label(tree) == {"title:star": 3.0}


def test_contributions_of_a_maximum() -> None:
    tree = node(4.0, "max of:", weight(4.0, "title:star"), weight(1.0, "cast:star"))
    assert values_by_label(tree) == {"title:star": 4.0}


def test_contributions_of_a_maximum_with_a_tie_breaker() -> None:
    tree = node(4.1, "max plus 0.1 times others of:", weight(1.0, "cast:star"), weight(4.0, "title:star"))
    assert values_by_label(tree) == {"title:star": 4.0, "cast:star": 0.1}


def test_contributions_of_a_product() -> None:
    query = node(2.0, "sum of:", weight(1.5, "title:star"), weight(0.5, "cast:star"))
    assert values_by_label(node(6.0, "product of:", query, node(3.0, "boost"))) == {"title:star": 4.5, "cast:star": 1.5}
    named = node(6.0, "product of:", query, node(3.0, "popularity(votes), computed as x"))
    assert values_by_label(named) == {"title:star × popularity(votes)": 4.5, "cast:star × popularity(votes)": 1.5}


@pytest.mark.parametrize(
    ("description", "label"),
    [
        ("weight(Synonym(title:television title:tv) in 3) [BM25Similarity], result of:", "title:television tv"),
        ("weight(spanNear([title:star, title:wars], 0, true) in 3), result of:", "title:star wars"),
        ('weight(title:"long (night)" in 3) [SchemaSimilarity], result of:', 'title:"long (night)"'),
        ("weight(meta.title:a:b in 0) [PerFieldSimilarity], result of:", "meta.title:a:b"),
        ("ConstantScore(genres:comedy)^2.0", "genres:comedy"),
        ("ConstantScore(year:[1970 TO 1980]), product of:", "year:[1970 TO 1980]"),
        ("title:sta*", "title:sta*"),
        ("*:*", "every document"),
        ("within top k documents", "within top k documents"),
        ("", "other"),
    ],
)
def test_contributions_of_one_node(description: str, label: str) -> None:
    (part,) = contributions(node(1.5, description))
    assert (part.label, part.value, part.share) == (label, 1.5, 1.0)


def test_contributions_of_filters() -> None:
    tree = node(
        2.0, "sum of:", weight(2.0, "title:star"), node(0.0, "match on required clause, product of:", node(1, "year"))
    )
    assert values_by_label(tree) == {"title:star": 2.0}


def test_contributions_with_a_negative_part() -> None:
    parts = contributions(node(1.0, "sum of:", weight(2.0, "title:star"), node(-1.0, "FunctionQuery(int(age))")))
    assert [(part.value, round(part.share, 3)) for part in parts] == [(2.0, 0.667), (-1.0, 0.333)]


@pytest.mark.parametrize(
    "tree", [None, {}, [], "x", {"value": "1"}, {"value": 0.0}, {"value": float("nan")}, {"value": 10**400}]
)
def test_contributions_of_invalid_trees(tree: Any) -> None:
    assert contributions(tree) == ()


def test_parse_explanation_keeps_value_description_and_children() -> None:
    tree = {"value": 2, "description": "sum  of:\n", "children": [{"value": True, "description": 5}, "not a node"]}
    assert parse_explanation(tree) == ExplanationNode(
        2.0, "sum of:", (ExplanationNode(1.0, "5"), ExplanationNode(0.0, ""))
    )


def test_parse_explanation_of_a_very_deep_tree() -> None:
    tree: dict[str, Any] = weight(1.0, "title:star")
    for _ in range(900):
        tree = node(1.0, "sum of:", tree)
    assert math.fsum(part.share for part in contributions(tree)) == pytest.approx(1)
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"value": 1, "details": [deep]}
    assert limit_tree(deep)["value"] == 1


WORDS = st.sampled_from(
    ["sum of:", "max of:", "max plus 0.5 times others of:", "max plus e times others of:", "product of:", "boost", "",
     "weight(title:star in 0) [X], result of:", "ConstantScore(a:b)", "function score, product of:", "weight(", "min of:",
     "Math.min of", "title:", "weight(FunctionScoreQuery(a:b, scored by boost(x)))", "script score function", "_score: "]
)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
ANY_TREE = st.recursive(
    JSON | st.fixed_dictionaries({"value": st.floats() | st.integers(), "description": WORDS | st.text()}),
    lambda inner: st.fixed_dictionaries(
        {"value": st.floats() | JSON, "description": WORDS | JSON, "details": st.lists(inner, max_size=4) | JSON}
    ),
    max_leaves=12,
)


@given(ANY_TREE)
def test_contributions_of_any_tree(tree: Any) -> None:
    parts = contributions(tree)
    assert all(math.isfinite(part.value) and 0 <= part.share <= 1 and part.label for part in parts)
    assert not parts or math.fsum(part.share for part in parts) == pytest.approx(1)
    assert contributions(parse_explanation(tree)) == parts


@pytest.mark.parametrize("name", [name for name in TREES if "dismax" in name])
def test_factors_multiply_to_what_a_term_contributed(name: str) -> None:
    parts = contributions(TREES[name]["tree"])
    assert all({"idf", "tf"} <= {factor.name for factor in part.factors} for part in parts)
    whole = [part for part in parts if part.field == "title"]  # the others are multiplied by the tie breaker
    for part in whole:
        assert math.prod(factor.value for factor in part.factors) == pytest.approx(part.value, rel=1e-4)
    tf = next(factor for factor in whole[0].factors if factor.name == "tf")
    assert dict(tf.inputs) == {"occurrences": 1, "length of the field": 2}


def test_factors_of_products_in_a_product() -> None:
    query_weight = node(6.0, "queryWeight, product of:", node(2.0, "boost"), node(3.0, "idf(docFreq=1)"))
    field_weight = node(1.5, "fieldWeight in 7, product of:", node(0.5, "tf(freq=1.0)"), node(3.0, "idf(docFreq=1)"))
    formula = node(9.0, "score(freq=1.0), product of:", query_weight, field_weight)
    (part,) = contributions(node(9.0, "weight(title:star in 7) [ClassicSimilarity], result of:", formula))
    assert {factor.name: factor.value for factor in part.factors} == {"boost": 2.0, "idf": 9.0, "tf": 0.5}


def test_no_factors_of_a_sum_or_of_what_does_not_multiply() -> None:
    (merged,) = contributions(node(3.0, "sum of:", weight(1.0, "title:star"), weight(2.0, "title:star")))
    assert merged.factors == ()
    (other,) = contributions(weight(7.0, "title:star"))  # 2.2 times 0.5 is not 7
    assert other.factors == ()


REQUIRED = "no match on required clause"
CONJUNCTION = "Failure to meet condition(s) of required/prohibited clause(s)"


def test_failed_clauses_of_a_document_that_matches() -> None:
    assert failed_clauses(weight(1.1, "title:star")) == ()
    # Filters and constants may match with 0 points.
    assert failed_clauses(node(0.0, "ConstantScore(title:lord)^0.0")) == ()


def test_failed_clauses_names_the_innermost_clauses() -> None:
    """As Elasticsearch 9 explains a document that has one of two words, and neither filter."""
    inner = node(
        0.0,
        CONJUNCTION,
        weight(3.25, "title:lord"),
        node(0.0, f"{REQUIRED} (title:rings)", node(0.0, "no matching term")),
    )
    tree = node(
        0.0,
        CONJUNCTION,
        node(0.0, f"{REQUIRED} ((+title:lord +title:rings))", inner),
        node(0.0, f"{REQUIRED} (#genre:fantasy)", node(0.0, "ConstantScore(genre:fantasy) doesn't match id 2")),
        node(0.0, "match on prohibited clause (title:war)", weight(9.0, "title:war")),
    )
    assert failed_clauses({**tree, "match": False}) == (
        FailedClause("required", "title:rings"),
        FailedClause("required", "genre:fantasy"),
        FailedClause("prohibited", "title:war"),
    )
    assert matching_part(tree).value == 3.25
    assert [part.label for part in contributions(matching_part(tree))] == ["title:lord"]


def test_failed_clauses_of_alternatives_names_them_together() -> None:
    clause = "(overview:lord | (title:lord)^5.0)"
    nothing = node(0.0, "no matching term")
    tree = node(
        0.0, CONJUNCTION, node(0.0, f"{REQUIRED} ({clause})", node(0.0, "No matching clause", nothing, nothing))
    )
    assert failed_clauses(tree) == (FailedClause("required", clause),)
    assert failed_clauses(node(0.0, "No matching clause", nothing, nothing)) == (FailedClause("required", ""),)


def test_matching_part_of_alternatives_is_the_best_one() -> None:
    alternatives = [
        node(0.0, CONJUNCTION, weight(value, f"{field}:lord"), node(0.0, f"{REQUIRED} ({field}:rings)"))
        for field, value in (("title", 3.0), ("overview", 1.0))
    ]
    part = matching_part(node(0.0, "No matching clause", *alternatives))
    assert (part.value, [child.value for child in part.children]) == (3.0, [3.0])


def test_failed_clauses_of_too_few_optional_clauses() -> None:
    tree = node(0.0, "Failure to match minimum number of optional clauses: 2", weight(0.5, "title:lord"))
    assert failed_clauses(tree) == (FailedClause("minimum", "", 2, ("title:lord",)),)
    assert matching_part(tree).value == 0.5


def test_failed_clauses_in_words_of_the_engine_alone() -> None:
    tree = {**node(0.0, "not among the documents that the request retrieves"), "match": False}
    assert failed_clauses(tree) == (FailedClause("other", "not among the documents that the request retrieves"),)
    assert matching_part(tree) == ExplanationNode(0.0, "sum of:", (), matches=False)


def test_left_out_keeps_the_score_of_the_query() -> None:
    tree = left_out(weight(1.5, "title:star"), "fq=genre:comedy")
    assert (tree["value"], tree["match"]) == (0.0, False)
    assert failed_clauses(tree) == (FailedClause("required", "fq=genre:comedy"),)
    assert matching_part(tree).value == 1.5


def test_limit_tree_keeps_what_does_not_match() -> None:
    tree = {
        "match": False,
        "value": 0,
        "description": "x",
        "details": [{"match": True, "value": 1, "description": "y"}],
    }
    plain = limit_tree(tree)
    assert plain["match"] is False and "match" not in plain["details"][0]
    assert not parse_explanation(plain).matches and parse_explanation(plain).children[0].matches


FAILURES = (
    "",
    CONJUNCTION,
    f"{REQUIRED} (a:b",
    "No matching clause",
    "match on prohibited clause (x)",
    "Failure to match minimum number of optional clauses: 3",
    "no match on optional clause (a:c)",
    "sum of:",
)


@given(
    st.recursive(
        st.just({}),
        lambda inner: st.fixed_dictionaries(
            {
                "value": st.sampled_from([0, 1.5]),
                "match": st.booleans(),
                "description": st.sampled_from(FAILURES),
                "details": st.lists(inner, max_size=3),
            }
        ),
    )
)
def test_failed_clauses_of_any_tree(tree: dict[str, Any]) -> None:
    """Something is named exactly if the document does not match."""
    assert bool(failed_clauses(tree)) == (not parse_explanation(tree).matches)
    assert math.isfinite(matching_part(tree).value)
