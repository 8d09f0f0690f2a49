"""trec_eval's own test files: what it prints for them, per query and mean."""

from collections import defaultdict
from pathlib import Path

import pytest

from relevancy.scoring import evaluate
from tests.scoring.one_ranking import shared_data

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
MEASURES = {
    "map": "AP",
    "recip_rank": "RR",
    "bpref": "Bpref",
    "ndcg": "nDCG(gain='linear')",
    **{f"P_{k}": f"P@{k}" for k in CUTOFFS},
    **{f"recall_{k}": f"R@{k}" for k in CUTOFFS},
    **{f"map_cut_{k}": f"AP@{k}" for k in CUTOFFS},
    **{f"ndcg_cut_{k}": f"nDCG(gain='linear')@{k}" for k in CUTOFFS},
    **{f"success_{k}": f"Success@{k}" for k in (1, 5, 10)},
}


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = defaultdict(dict)
    for line in path.read_text().splitlines():
        query, _, document, grade = line.split()
        qrels[query][document] = int(grade)
    return qrels


def read_run(path: Path) -> dict[str, dict[str, float]]:
    run: dict[str, dict[str, float]] = defaultdict(dict)
    for line in path.read_text().splitlines():
        query, _, document, _, score, *_ = line.split()
        run[query][document] = float(score)
    return run


def printed() -> dict[tuple[str, str], float]:
    """{(measure, query or 'all'): value}."""
    rows = [line.split() for line in shared_data("trec_eval", "out.test.aq").read_text().splitlines()]
    return {(measure, query): float(value) for measure, query, value in rows if measure in MEASURES}


def mean(values: dict[str, float | None]) -> float:
    return sum(value or 0.0 for value in values.values()) / len(values)


@pytest.mark.parametrize("as_lists", [False, True])
def test_evaluate_equals_trec_eval(as_lists):
    run = read_run(shared_data("trec_eval", "results.test"))
    if as_lists:
        run = {q: [d for d, _ in sorted(r.items(), key=lambda p: (p[1], p[0]), reverse=True)] for q, r in run.items()}
    found = evaluate(list(MEASURES.values()), read_qrels(shared_data("trec_eval", "qrels.test")), run)
    expected = printed()
    assert len(expected) == 4 * len(MEASURES)
    for (measure, query), value in expected.items():
        ours = found[MEASURES[measure]]
        # Four decimals are printed.
        assert (mean(ours) if query == "all" else ours[query]) == pytest.approx(value, abs=5.001e-5), (measure, query)


def test_evaluate_missing_topic_has_nothing_returned():
    qrels = read_qrels(shared_data("trec_eval", "qrels.test"))
    whole = read_run(shared_data("trec_eval", "results.test"))
    part = read_run(shared_data("trec_eval", "results.trunc"))
    assert set(qrels) - set(part) == {"302"}
    found = evaluate(["AP", "P@10", "nDCG@10", "RR", "Bpref", "Judged@10"], qrels, part)
    for values in found.values():
        assert values["302"] == 0
        assert set(values) == set(qrels)
    # Topic 301 is complete in the shortened file.
    assert part["301"].keys() == whole["301"].keys()
    assert found["AP"]["301"] == pytest.approx(printed()["map", "301"], abs=5.001e-5)


def test_evaluate_graded_judgements_with_negative_ones(pytrec_eval_of):
    qrels = read_qrels(shared_data("trec_eval", "qrels.rel_level"))
    run = read_run(shared_data("trec_eval", "results.test"))
    assert {grade for row in qrels.values() for grade in row.values()} == {-1, 0, 1, 2, 3, 4}
    for level in (1, 2, 3):
        rel = f"(rel={level})"
        ours = {
            "map": f"AP{rel}", "recip_rank": f"RR{rel}", "bpref": f"Bpref{rel}", "P_10": f"P{rel}@10",
            "recall_100": f"R{rel}@100", "success_5": f"Success{rel}@5",
        }  # fmt: skip
        theirs = pytrec_eval_of(qrels, run, {"map", "recip_rank", "bpref", "P", "recall", "success"}, level)
        found = evaluate(list(ours.values()), qrels, run)
        for query in qrels:
            for key, measure in ours.items():
                assert (found[measure][query] or 0.0) == pytest.approx(theirs[query][key], abs=1e-6), (measure, query)
    graded = pytrec_eval_of(qrels, run, {"ndcg", "ndcg_cut"}, 1)
    found = evaluate(["nDCG(gain='linear')", "nDCG(gain='linear')@10", "nDCG(gain='linear')@100"], qrels, run)
    for query in qrels:
        assert found["nDCG(gain='linear')"][query] == pytest.approx(graded[query]["ndcg"], abs=1e-6)
        assert found["nDCG(gain='linear')@10"][query] == pytest.approx(graded[query]["ndcg_cut_10"], abs=1e-6)
        assert found["nDCG(gain='linear')@100"][query] == pytest.approx(graded[query]["ndcg_cut_100"], abs=1e-6)
