"""TREC's files: exported runs and qrels join, and trec_eval's order is the order of ranks."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from relevancy import scoring, transfer
from relevancy.models import Ranking
from relevancy.transfer import run_csv, trec
from tests.factories import make_attempt, make_case, query_of, run_now, script_of, stored_scores

DATA = Path(__file__).parents[3] / "shared" / "data" / "trec_eval"
database = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture
def trec_files() -> tuple[str, str]:
    if not DATA.is_dir():
        pytest.skip("../shared/data is absent")
    return (DATA / "qrels.test").read_text(), (DATA / "results.test").read_text()


def test_measure_gives_trec_evals_numbers(trec_files: tuple[str, str]) -> None:
    said = {}
    for line in (DATA / "out.test.aq").read_text().splitlines():
        name, topic, value = line.split()
        said[name, topic] = value
    qrels, run = trec_files
    names = {"map": "AP", "P_10": "P@10", "recip_rank": "RR", "bpref": "Bpref", "ndcg_cut_10": "nDCG(gain='linear')@10"}
    names = {trec_name: ours for trec_name, ours in names.items() if (trec_name, "all") in said}
    assert len(names) >= 4
    found = trec.measure(qrels=qrels, run=run, measures=list(names.values()), zero=True)
    for trec_name, ours in names.items():
        assert found[ours]["mean"] == pytest.approx(float(said[trec_name, "all"]), abs=5.1e-5), ours
        for topic, value in found[ours]["per_query"].items():
            assert value == pytest.approx(float(said[trec_name, topic]), abs=5.1e-5), (ours, topic)


def test_measure_not_scoreable() -> None:
    files = {"qrels": "1 0 a 1\n2 0 b 0\n", "run": "1 Q0 b 1 2.0 x\n2 Q0 b 1 1 x\n"}
    assert trec.measure(**files, measures=["AP"]) == {
        "AP": {"mean": 0.0, "scored": 1, "queries": 2, "per_query": {"1": 0.0, "2": None}}
    }
    assert trec.measure(**files, measures=["AP"], zero=True)["AP"]["scored"] == 2
    nothing = trec.measure(qrels="2 0 b 0\n", run="", measures=["AP"])["AP"]
    assert (nothing["mean"], nothing["scored"], nothing["queries"]) == (None, 0, 1)


@pytest.mark.parametrize(
    ("qrels", "run", "said"),
    [
        ("1 0 a\n", "", "Line 1: 3 columns instead of 4"),
        ("1 0 a 1\n\n1 0 a 2\n", "", "Line 3: document 'a' of topic '1' stands here for the second time"),
        ("1 0 a good\n", "", "Line 1: column grade: 'good' is no number"),
        ("1 0 a nan\n", "", "Line 1: column grade: 'nan'"),
        ("1 0 a inf\n", "", "Line 1: column grade: 'inf'"),
        ("1 0 a 1\n", "1 Q0 a 1 x tag\n", "Line 1: column score: 'x'"),
        ("1 0 a 1\n", "1 Q0 a 1 nan tag\n", "Line 1: column score: 'nan'"),
        ("1 0 a 1\n", "1 Q0 a 1 0.5\n", "Line 1: 5 columns instead of 6"),
    ],
)
def test_measure_bad_files(qrels: str, run: str, said: str) -> None:
    with pytest.raises(transfer.BadFile) as caught:
        trec.measure(qrels=qrels, run=run, measures=["AP"])
    assert str(caught.value).startswith(said)


class TestExport:
    pytestmark = database

    def test_run_and_qrels_join_and_give_the_stored_scores(self) -> None:
        ratings = {"query 1": {"b": 3, "x": 1}, "query 2": {"c d": 1, "50%": 2}, "query 3": {"a": 0}}
        case = make_case(4, ratings, measures=["nDCG@10", "RR@10"])
        attempt = make_attempt(case)
        script_of(attempt).answers |= {"query 2": ("50%", "a", "c d", "a", "e\u3000f"), "query 4": ()}
        run = run_now(attempt)
        qrels, exported = trec.export_qrels(case=case), trec.export_run(run=run)
        assert all(len(line.split()) == 6 for line in exported.splitlines())
        assert "Q0 c%20d 3" in exported
        assert "Q0 50% 1" in exported
        found = trec.measure(qrels=qrels, run=exported, measures=["nDCG@10", "RR@10"])
        stored = stored_scores(run)
        for measure in found:
            for topic, value in found[measure]["per_query"].items():
                text = case.book.queries.get(pk=topic).text
                score = stored[measure, text][1]
                assert (value is None) == (score is None)
                assert value is None or 100 * value == pytest.approx(score)
        assert set(found["RR@10"]["per_query"]) == {str(query_of(case, f"query {n}").pk) for n in (1, 2, 3)}

    @pytest.mark.parametrize(
        "scores",
        [
            (3.0, 2.0, 1.0),
            (1.0, 1.0, 1.0),
            (1.0, 2.0, 3.0),
            (None, None, None),
            (2.0, None, 1.0),
            (1e300, 1e299, 1.0),
            (12.34567891, 12.3456789, 12.34567889),  # one and the same in single precision
            (-1, -2.5, -3e-9),
        ],
    )
    def test_trec_evals_order_is_that_of_the_ranks(self, scores: tuple[Any, ...]) -> None:
        run = run_now(make_attempt(make_case(1)))
        hits = [[doc_id, score, {}] for doc_id, score in zip("bca", scores, strict=True)]
        Ranking.objects.update(hits=[*hits, ["b", 0.5, {}]])
        lines = [line.split() for line in trec.export_run(run=run).splitlines()]
        import numpy as np  # noqa: PLC0415

        with np.errstate(over="ignore"):
            order = sorted(lines, key=lambda cells: (float(np.float32(cells[4])), cells[2]), reverse=True)
        assert [cells[2] for cells in order] == list("bca")
        assert [cells[3] for cells in order] == ["1", "2", "3"]

    def test_failed_searches_are_left_out(self) -> None:
        run = run_now(make_attempt(make_case(2)))
        run.rankings.filter(text="query 2").update(error_kind="too slow", error="x", hits=[])
        assert {line.split()[0] for line in trec.export_run(run=run).splitlines()} == {
            str(run.rankings.get(text="query 1").query_id)
        }

    def test_run_csv(self) -> None:
        case = make_case(["b, or not", "=a"])
        run = run_now(make_attempt(case))
        first = run.rankings.get(text="b, or not")
        first.hits = [["-7", 1.5, {"price": -3, "tags": ["x", "y"], "title": "=1+1", "new": True, "none": None}]]
        first.save()
        moved = case.case_queries.get(query__text="=a")
        moved.position = -1
        moved.save()
        rows = list(csv.reader(io.StringIO(run_csv.export_run(run=run))))
        assert rows[0] == [*run_csv.HEADER, *rows[0][6:]]
        assert [row[3:6] for row in rows[1:]] == [
            ["'=a", "a", "1"], ["'=a", "b", "2"], ["'=a", "c", "3"], ["b, or not", "'-7", "1"],
        ]  # fmt: skip
        told = dict(zip(rows[0], rows[-1], strict=True))
        assert told["Snapshot Name"] == "Run 1"
        assert told["Case ID"] == str(case.pk)
        assert (told["price"], told["tags"], told["title"], told["new"], told["none"]) == (
            "-3", '["x", "y"]', "'=1+1", "true", "",
        )  # fmt: skip

    def test_run_csv_is_what_the_static_engine_reads(self, data_dir: Path) -> None:
        from relevancy.engines.rankings_file import parse_rankings  # noqa: PLC0415

        run = run_now(make_attempt(make_case(["x, y", "=a", "''z"])))
        read = parse_rankings(run_csv.export_run(run=run)).by_query
        assert {query: [hit.id for hit in hits] for query, hits in read.items()} == {
            text: ["a", "b", "c"] for text in ("x, y", "=a", "''z")
        }


def test_measure_needs_a_measure_that_exists() -> None:
    with pytest.raises(scoring.MeasureError, match="nDGC"):
        trec.measure(qrels="1 0 a 1\n", run="", measures=["nDGC@10"])
