"""Every value in ../shared/data/scorer_cases. Where a convention differs from ours, a parameter selects it."""

import json
import math

import numpy as np
import pytest

from relevancy.scoring import MeasureError, Scale, mean_value, parse_measure
from relevancy.scoring.measures.gains import compute_gains
from tests.scoring.ranking_scores import compute_value, score_ranking
from tests.shared_data import shared_data

# Quepid: nDCG@10 does not cut the ideal list, P@10 divides by what was returned, CG is linear, ratings above 0 are relevant.
QUEPID = {
    "p@10.js": "P(denominator='returned')@10",
    "ap@10.js": "AP@10",
    "rr@10.js": "RR@10",
    "cg@10.js": "CG(gain='linear')@10",
    "dcg@10.js": "DCG@10",
    "ndcg@10.js": "nDCG(ideal='uncut')@10",
    "ndcg_cut@10.js": "nDCG@10",
    "err@10.js": "ERR@10",
}


def load(name: str) -> dict:
    return json.loads(shared_data("scorer_cases", name).read_text())


def test_quepid_scorers():
    cases = load("quepid_scorers.json")["cases"]
    for case in cases:
        assert case["expected"].keys() == QUEPID.keys()
        for script, expected in case["expected"].items():
            scores = score_ranking(
                QUEPID[script],
                case["ranked_ratings"],
                f"0:{case['max_grade']}",
                case["unretrieved_ratings"],
                count_unscoreable_as_zero=True,  # Quepid counts a query without a relevant document as 0
            )
            # Quepid's AP then divides 0 by 0, and the NaN is stored as 0.
            value = 0 if expected == "NaN" else expected
            assert scores.value[0] == pytest.approx(value, abs=1e-12), (case["id"], script)
    assert len(cases) == 10


def test_quepid_average_helpers():
    """avg100 is the average part of AvgEdit, if the list is in the best order and so has no edits; the others are steps."""
    helpers = {case["fn"]: case for case in load("quepid_scorers.json")["average_helpers"]}
    assert helpers.keys() == {"baseAvg", "baseAvgRounded", "avg100"}
    for case in helpers.values():
        scale = f"{case['scale'][0]}:{case['scale'][-1]}"
        mean = compute_value("CG(gain='linear')@4", case["ratings"], scale) / 4
        results = {
            "baseAvg": mean,
            "baseAvgRounded": math.floor(mean),
            "avg100": score_ranking("AvgEdit@4", case["ratings"], scale).score[0],
        }
        assert results[case["fn"]] == case["expected"]


def elastic_measure(case: dict) -> str:
    """Elasticsearch's metric in our notation.

    Its ideal list is cut at the number of hits, not at k: nDCG without a cutoff, depth = number of hits. Its precision
    divides by what was returned; `ignore_unlabeled` skips unrated documents.
    """
    parameters = case["params"]
    rel, k = parameters.get("relevant_rating_threshold"), parameters.get("k")
    unlabeled = ",unrated='skip'" if parameters.get("ignore_unlabeled") else ""
    if case["metric"] == "dcg":
        return "nDCG" if parameters["normalize"] else f"DCG@{k}"
    return {
        "precision": f"P(rel={rel},denominator='returned'{unlabeled})@{k}",
        "recall": f"R(rel={rel})@{k}",
        "mean_reciprocal_rank": f"RR(rel={rel})@{k}",
        "expected_reciprocal_rank": f"ERR@{k}",
    }[case["metric"]]


def check_ranking(case: dict) -> None:
    grades, unretrieved, expected = case["ranked_ratings"], case["unretrieved_ratings"], case["expected"]
    top = case["params"].get("maximum_relevance", 4)
    # A query without a relevant document counts as 0 in Elasticsearch.
    scores = score_ranking(elastic_measure(case), grades, f"0:{top}", unretrieved, count_unscoreable_as_zero=True)
    if isinstance(expected, list):
        assert expected[0] < scores.value[0] < expected[1], case["id"]
    else:
        assert scores.value[0] == pytest.approx(expected, abs=max(case["tolerance"], 1e-12)), case["id"]
    check_details(case)


def check_details(case: dict) -> None:
    """What Elasticsearch reports next to the value. Its counts follow from our measures."""
    grades, unretrieved, top = case["ranked_ratings"], case["unretrieved_ratings"], case["params"].get("k", 10)
    rel = case["params"].get("relevant_rating_threshold", 1)
    details = dict(case.get("details", {}))
    results = {}
    if "ideal_dcg" in details:
        best = sorted([grade for grade in [*grades, *unretrieved] if grade is not None], reverse=True)[: len(grades)]
        results["ideal_dcg"] = compute_value("DCG", best, "0:4")
    if "relevant_docs_retrieved" in details:
        results["relevant_docs_retrieved"] = round(value_or_zero(f"P(rel={rel})@{top}", grades, unretrieved) * top)
    if "docs_retrieved" in details:
        skipped = case["params"]["ignore_unlabeled"]
        results["docs_retrieved"] = len([grade for grade in grades if grade is not None or not skipped])
    if "relevant_docs" in details:
        results["relevant_docs"] = len(
            [grade for grade in [*grades, *unretrieved] if grade is not None and grade >= rel]
        )
    if "first_relevant" in details:
        reciprocal = value_or_zero(f"RR(rel={rel})@{top}", grades, unretrieved)
        results["first_relevant"] = round(1 / reciprocal) if reciprocal else -1
    assert results == pytest.approx(details), case["id"]
    if "unrated" in case:
        assert score_ranking("CG@10", grades, "0:4", unretrieved).unrated[0] == case["unrated"], case["id"]


def value_or_zero(measure: str, grades: list, unretrieved: list) -> float:
    return float(np.nan_to_num(compute_value(measure, grades, "0:4", unretrieved)))


def check_probability(case: dict) -> None:
    top = case["params"]["maximum_relevance"]
    assert compute_value("ERR@1", [case["rating"]], f"0:{top}") == case["expected"]
    assert compute_gains(np.array([float(case["rating"])]), "exp")[0] / 2**top == case["expected"]


def check_mean(case: dict) -> None:
    assert mean_value(case["values"]) == pytest.approx(case["expected"], abs=1e-15)


def check_invalid_parameters(case: dict) -> None:
    name = {"precision": "P", "recall": "R", "mean_reciprocal_rank": "RR"}[case["metric"]]
    (parameter, value), *_ = case["params"].items()
    text = f"{name}@{value}" if parameter == "k" else f"{name}(rel={value})@10"
    with pytest.raises(MeasureError, match=str(value)):
        parse_measure(text)


def test_elasticsearch_rank_eval():
    cases = load("elasticsearch_rank_eval.json")["cases"]
    for case in cases:
        if case["id"].startswith("invalid-"):
            check_invalid_parameters(case)
        elif case["metric"] == "err_probability_of_relevance":
            check_probability(case)
        elif case["metric"] == "mean_over_queries":
            check_mean(case)
        else:
            check_ranking(case)
    assert len(cases) == 34
    assert Scale.parse("0:4").relevant_from == 1
