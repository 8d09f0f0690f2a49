"""Random judgements and runs through pytrec_eval and ir-measures, which must find the same values."""

import random

import ir_measures as im
import pytest

from relevancy.scoring import evaluate

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
# Objects, not text: ir-measures' own parser uses what Python 3.14 removes. RBP is missing: no provider is installed.
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


def synthetic(
    seed: int, lowest: int = 0, ties: bool = True
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """30 queries with unjudged documents, missing ones, short and empty rankings."""
    chance = random.Random(seed)
    qrels, run = {}, {}
    for number in range(30):
        query = str(number)  # gdeval, behind ERR, wants numbers
        documents = [f"d{document}" for document in range(40)]
        judged = chance.sample(documents, chance.randint(1, 25))
        qrels[query] = {document: chance.randint(lowest, 4) for document in judged}
        # Eighths survive the single precision of trec_eval, so that ties are the same ones.
        found = chance.sample(documents, chance.choice((1, 4, 12, 30)))
        scores = [chance.randint(0, 40) for _ in found] if ties else chance.sample(range(1000), len(found))
        run[query] = {document: score / 8 for document, score in zip(found, scores, strict=True)}
    del run["3"]
    return qrels, run


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("lowest", [0, -1])
def test_evaluate_equals_pytrec_eval(seed, lowest, pytrec_eval_of):
    qrels, run = synthetic(seed, lowest)
    theirs = pytrec_eval_of(qrels, run, {"map", "map_cut", "recip_rank", "bpref", "ndcg", "ndcg_cut", "P", "recall",
                                         "success"})  # fmt: skip
    ours = evaluate(list(PYTREC_EVAL.values()), qrels, run)
    for query in run:
        for key, measure in PYTREC_EVAL.items():
            assert (ours[measure][query] or 0.0) == pytest.approx(theirs[query][key], abs=1e-6), (measure, query)


@pytest.mark.parametrize("seed", range(4))
def test_evaluate_equals_ir_measures(seed):
    # Without ties: ir-measures hands the run to several tools, which break them differently.
    qrels, run = synthetic(seed, ties=False)
    if max(max(row.values()) for row in qrels.values()) < 4:
        qrels["0"]["d0"] = 4
    ours = evaluate(list(IR_MEASURES), qrels, run, "0:4")
    named = {theirs: measure for measure, theirs in IR_MEASURES.items()}
    compared = 0
    # ERR comes with five decimals.
    for found in im.iter_calc(list(named), qrels, run):
        measure = named[found.measure]
        assert (ours[measure][found.query_id] or 0.0) == pytest.approx(found.value, abs=6e-6), (measure, found.query_id)
        compared += 1
    assert compared >= len(IR_MEASURES) * len(run)
