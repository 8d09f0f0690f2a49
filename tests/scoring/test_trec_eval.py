"""The test files of trec_eval, read as the command `measure` reads them: the values that it prints, per query and mean."""

import pytest

from relevancy.formats.ratings import trec
from relevancy.scoring import evaluate
from tests.oracles import evaluate_by_pytrec_eval
from tests.shared_data import shared_data

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


def read_qrels(name: str) -> dict[str, dict[str, float]]:
    return trec.read_qrels(shared_data("trec_eval", name).read_text())


def read_run(name: str) -> dict[str, dict[str, float]]:
    return trec.read_run(shared_data("trec_eval", name).read_text())


def printed() -> dict[tuple[str, str], float]:
    """{(measure, query or 'all'): value}."""
    rows = [line.split() for line in shared_data("trec_eval", "out.test.aq").read_text().splitlines()]
    return {(measure, query): float(value) for measure, query, value in rows if measure in MEASURES}


def mean(values: dict[str, float | None]) -> float:
    return sum(value or 0.0 for value in values.values()) / len(values)


@pytest.mark.parametrize("as_lists", [False, True])
def test_evaluate_equals_trec_eval(as_lists):
    run = read_run("results.test")
    if as_lists:
        run = {q: [d for d, _ in sorted(r.items(), key=lambda p: (p[1], p[0]), reverse=True)] for q, r in run.items()}
    values_by_measure = evaluate(list(MEASURES.values()), read_qrels("qrels.test"), run)
    expected = printed()
    assert len(expected) == 4 * len(MEASURES)
    for (measure, query), value in expected.items():
        ours = values_by_measure[MEASURES[measure]]
        # trec_eval prints four decimals.
        assert (mean(ours) if query == "all" else ours[query]) == pytest.approx(value, abs=5.001e-5), (measure, query)


def test_evaluate_topic_that_is_missing_from_the_run():
    qrels = read_qrels("qrels.test")
    whole = read_run("results.test")
    part = read_run("results.trunc")
    assert set(qrels) - set(part) == {"302"}
    values_by_measure = evaluate(["AP", "P@10", "nDCG@10", "RR", "Bpref", "Judged@10"], qrels, part)
    for values in values_by_measure.values():
        assert values["302"] == 0
        assert set(values) == set(qrels)
    # Topic 301 is complete in the truncated file.
    assert part["301"].keys() == whole["301"].keys()
    assert values_by_measure["AP"]["301"] == pytest.approx(printed()["map", "301"], abs=5.001e-5)


def test_evaluate_graded_judgments_with_grades_below_0():
    qrels = read_qrels("qrels.rel_level")
    run = read_run("results.test")
    whole = {topic: {doc_id: int(grade) for doc_id, grade in row.items()} for topic, row in qrels.items()}
    assert {grade for row in qrels.values() for grade in row.values()} == {-1, 0, 1, 2, 3, 4}
    for level in (1, 2, 3):
        rel = f"(rel={level})"
        ours = {
            "map": f"AP{rel}", "recip_rank": f"RR{rel}", "bpref": f"Bpref{rel}", "P_10": f"P{rel}@10",
            "recall_100": f"R{rel}@100", "success_5": f"Success{rel}@5",
        }  # fmt: skip
        theirs = evaluate_by_pytrec_eval(whole, run, {"map", "recip_rank", "bpref", "P", "recall", "success"}, level)
        values_by_measure = evaluate(list(ours.values()), qrels, run)
        for query in qrels:
            for key, measure in ours.items():
                assert (values_by_measure[measure][query] or 0.0) == pytest.approx(theirs[query][key], abs=1e-6), (
                    measure,
                    query,
                )
    graded = evaluate_by_pytrec_eval(whole, run, {"ndcg", "ndcg_cut"}, 1)
    values_by_measure = evaluate(
        ["nDCG(gain='linear')", "nDCG(gain='linear')@10", "nDCG(gain='linear')@100"], qrels, run
    )
    for query in qrels:
        assert values_by_measure["nDCG(gain='linear')"][query] == pytest.approx(graded[query]["ndcg"], abs=1e-6)
        assert values_by_measure["nDCG(gain='linear')@10"][query] == pytest.approx(
            graded[query]["ndcg_cut_10"], abs=1e-6
        )
        assert values_by_measure["nDCG(gain='linear')@100"][query] == pytest.approx(
            graded[query]["ndcg_cut_100"], abs=1e-6
        )
