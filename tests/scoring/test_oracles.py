"""Random judgments and runs: pytrec_eval and ir-measures must give the same values."""

import random

import ir_measures as im
import pytest

from relevancy.scoring import evaluate
from tests.oracles import evaluate_by_ir_measures, evaluate_by_pytrec_eval

PYTREC_EVAL = {
    "map": "AP",
    "map_cut_5": "AP@5",
    "map_cut_100": "AP@100",
    "recip_rank": "RR",
    "bpref": "Bpref",
    "ndcg": "nDCG(gain='linear')",
    "ndcg_cut_5": "nDCG(gain='linear')@5",
    "ndcg_cut_10": "nDCG(gain='linear')@10",
    "P_5": "P@5",
    "P_10": "P@10",
    "recall_5": "R@5",
    "recall_30": "R@30",
    "success_5": "Success@5",
}
# Objects, because the parser of ir-measures uses a function that Python 3.14 removes. No provider of RBP is installed.
EXPONENTIAL = {0: 0, 1: 1, 2: 3, 3: 7, 4: 15}
IR_MEASURES = {
    "AP": im.AP,
    "AP(rel=2)": im.AP(rel=2),
    "AP@10": im.AP @ 10,
    "AP(unrated='skip')": im.AP(judged_only=True),
    "P@5": im.P @ 5,
    "P(rel=2)@10": im.P(rel=2) @ 10,
    "P(unrated='skip')@5": im.P(judged_only=True) @ 5,
    "R@10": im.R @ 10,
    "R(rel=2)@5": im.R(rel=2) @ 5,
    "RR": im.RR,
    "RR@5": im.RR @ 5,
    "RR(rel=2)": im.RR(rel=2),
    "Success@3": im.Success @ 3,
    "ERR@10": im.ERR @ 10,
    "ERR@3": im.ERR @ 3,
    "Judged@10": im.Judged @ 10,
    "Bpref": im.Bpref,
    "Bpref(rel=2)": im.Bpref(rel=2),
    "nDCG(gain='linear')": im.nDCG,
    "nDCG(gain='linear')@7": im.nDCG @ 7,
    "nDCG(gain='linear',unrated='skip')@7": im.nDCG(judged_only=True) @ 7,
    "nDCG@10": im.nDCG(gains=EXPONENTIAL) @ 10,
}


def generate(
    seed: int, lowest: int = 0, ties: bool = True
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """30 queries with unjudged and unretrieved documents, and with short and empty rankings."""
    generator = random.Random(seed)
    qrels, run = {}, {}
    for number in range(30):
        query = str(number)  # gdeval, which computes ERR, needs numbers
        documents = [f"d{document}" for document in range(40)]
        judged = generator.sample(documents, generator.randint(1, 25))
        qrels[query] = {document: generator.randint(lowest, 4) for document in judged}
        # Eighths are exact in the single precision of trec_eval, so that the same documents are tied.
        retrieved = generator.sample(documents, generator.choice((1, 4, 12, 30)))
        scores = (
            [generator.randint(0, 40) for _ in retrieved] if ties else generator.sample(range(1000), len(retrieved))
        )
        run[query] = {document: score / 8 for document, score in zip(retrieved, scores, strict=True)}
    del run["3"]
    return qrels, run


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("lowest", [0, -1])
def test_evaluate_equals_pytrec_eval(seed, lowest):
    qrels, run = generate(seed, lowest)
    theirs = evaluate_by_pytrec_eval(qrels, run, {"map", "map_cut", "recip_rank", "bpref", "ndcg", "ndcg_cut", "P", "recall",
                                         "success"})  # fmt: skip
    ours = evaluate(list(PYTREC_EVAL.values()), qrels, run)
    for query in run:
        for key, measure in PYTREC_EVAL.items():
            assert (ours[measure][query] or 0.0) == pytest.approx(theirs[query][key], abs=1e-6), (measure, query)


@pytest.mark.parametrize("seed", range(4))
def test_skipping_equals_pytrec_eval_of_judged_documents_only(seed):
    qrels, run = generate(seed, lowest=-1)
    measures = {"map": "AP(unrated='skip')", "recip_rank": "RR(unrated='skip')", "P_5": "P(unrated='skip')@5"}
    theirs = evaluate_by_pytrec_eval(qrels, run, {"map", "recip_rank", "P"}, judged_only=True)
    ours = evaluate(list(measures.values()), qrels, run)
    for query in run:
        for key, measure in measures.items():
            assert (ours[measure][query] or 0.0) == pytest.approx(theirs[query][key], abs=1e-6), (measure, query)


@pytest.mark.parametrize("seed", range(4))
def test_evaluate_equals_ir_measures(seed):
    # Without ties, because the tools behind ir-measures break them differently.
    qrels, run = generate(seed, ties=False)
    if max(max(row.values()) for row in qrels.values()) < 4:
        qrels["0"]["d0"] = 4
    ours = evaluate(list(IR_MEASURES), qrels, run, "0:4")
    named = {theirs: measure for measure, theirs in IR_MEASURES.items()}
    compared = 0
    # ERR is printed with five decimals.
    for metric in evaluate_by_ir_measures(named, qrels, run):
        measure = named[metric.measure]
        assert (ours[measure][metric.query_id] or 0.0) == pytest.approx(metric.value, abs=6e-6), (
            measure,
            metric.query_id,
        )
        compared += 1
    assert compared >= len(IR_MEASURES) * len(run)
