"""TREC files: exported runs and qrels belong together, and trec_eval sorts them by rank."""

import csv
import io
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from django.core.management import call_command
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from relevancy import formats, scoring
from relevancy.formats.rankings import run_csv
from relevancy.formats.ratings import trec
from relevancy.models import Ranking, Rating
from tests.factories import make_attempt, make_case, make_user, query_of, run_now, script_of, set_hits, stored_scores
from tests.shared_data import shared_data

database = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture
def trec_files() -> tuple[str, str]:
    data = shared_data("trec_eval")
    return (data / "qrels.test").read_text(), (data / "results.test").read_text()


def test_measure_gives_the_values_of_trec_eval(trec_files: tuple[str, str]) -> None:
    printed = {}
    for line in shared_data("trec_eval", "out.test.aq").read_text().splitlines():
        name, topic, value = line.split()
        printed[name, topic] = value
    qrels, run = trec_files
    names = {"map": "AP", "P_10": "P@10", "recip_rank": "RR", "bpref": "Bpref", "ndcg_cut_10": "nDCG(gain='linear')@10"}
    names = {trec_name: ours for trec_name, ours in names.items() if (trec_name, "all") in printed}
    assert len(names) >= 4
    summaries = trec.measure(qrels=qrels, run=run, measures=list(names.values()), count_unscoreable_as_zero=True)
    for trec_name, ours in names.items():
        assert summaries[ours]["mean"] == pytest.approx(float(printed[trec_name, "all"]), abs=5.1e-5), ours
        for topic, value in summaries[ours]["per_query"].items():
            assert value == pytest.approx(float(printed[trec_name, topic]), abs=5.1e-5), (ours, topic)


def test_measure_of_unscoreable_queries() -> None:
    files = {"qrels": "1 0 a 1\n2 0 b 0\n", "run": "1 Q0 b 1 2.0 x\n2 Q0 b 1 1 x\n"}
    assert trec.measure(**files, measures=["AP"]) == {
        "AP": {"mean": 0.0, "scored": 1, "queries": 2, "per_query": {"1": 0.0, "2": None}}
    }
    assert trec.measure(**files, measures=["AP"], count_unscoreable_as_zero=True)["AP"]["scored"] == 2
    nothing = trec.measure(qrels="2 0 b 0\n", run="", measures=["AP"])["AP"]
    assert (nothing["mean"], nothing["scored"], nothing["queries"]) == (None, 0, 1)


@pytest.mark.django_db
@pytest.mark.usefixtures("script")
def test_exported_qrels_give_the_scores_of_the_book_if_its_threshold_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """They do not hold it: without it, other documents are relevant, and the command that exports them says so."""
    case = make_case(["query 1"], {"query 1": {"a": 1, "b": 2, "c": 1, "d": 3}}, measures=["AP"])
    case.book.relevant_from = 2
    case.book.save()
    attempt = make_attempt(case)
    script_of(attempt).answers |= {"query 1": ("a", "b", "c")}
    run = run_now(attempt)
    call_command("export_ratings", str(case.pk), "--format", "trec")
    qrels, remark = capsys.readouterr()
    files = {"qrels": qrels, "run": "".join(trec.export_run(run=run))}
    summaries = trec.measure(**files, measures=["AP", "AP(rel=2)"], scale="0:3")
    assert 100 * (summaries["AP(rel=2)"]["mean"] or 0) == pytest.approx(stored_scores(run)["AP", "query 1"][1])
    assert summaries["AP"]["mean"] != summaries["AP(rel=2)"]["mean"]
    assert "AP(rel=2)" in remark


@pytest.mark.parametrize(
    ("qrels", "run", "message"),
    [
        ("1 0 a\n", "", "Line 1: 3 columns instead of 4"),
        ("1 0 a 1\n\n1 0 a 2\n", "", "Line 3: document 'a' of topic '1' occurs for the second time"),
        ("1 0 a good\n", "", "Line 1: column grade: 'good' is not a number"),
        ("1 0 a nan\n", "", "Line 1: column grade: 'nan'"),
        ("1 0 a inf\n", "", "Line 1: column grade: 'inf'"),
        ("1 0 a 1\n", "1 Q0 a 1 x tag\n", "Line 1: column score: 'x'"),
        ("1 0 a 1\n", "1 Q0 a 1 nan tag\n", "Line 1: column score: 'nan'"),
        ("1 0 a 1\n", "1 Q0 a 1 0.5\n", "Line 1: 5 columns instead of 6"),
        ("1 0 a 1 more\n", "", "Line 1: 5 columns instead of 4"),
        ("1 0 a 1\n", "# comment\n1 Q0 a 1 x tag\n", "Line 2: column score: 'x'"),
    ],
)
def test_measure_refuses_invalid_files(qrels: str, run: str, message: str) -> None:
    with pytest.raises(formats.BadFile) as caught:
        trec.measure(qrels=qrels, run=run, measures=["AP"])
    assert str(caught.value).startswith(message)


def test_comments_and_what_follows_the_tag_are_ignored() -> None:
    """As in trec_eval 10 and NIST's own files."""
    assert trec.read_qrels("# comment\n1 0 a 1\n  # another one\n1 0 b -1\r\n") == {"1": {"a": 1, "b": -1}}
    run = trec.read_run(
        "#1 Q0 z 1 9 tag\n1\tQ0\ta\t1\t2.5\tSTANDARD more text at\n1 Q0 b 2 1.5 STANDARD end of line.\n"
    )
    assert run == {"1": {"a": 2.5, "b": 1.5}}


def test_files_of_nist_can_be_read() -> None:
    text = shared_data("trec_eval", "results.trunc").read_text()
    assert max(len(line.split()) for line in text.splitlines()) > 6
    assert sum(map(len, trec.read_run(text).values())) == len(text.splitlines())


@pytest.mark.parametrize(
    ("doc_id", "encoded"),
    [
        ("a", "a"), ("50%", "50%"), ("100%!", "100%!"), ("a b", "a%20b"), ("a%20b", "a%2520b"), ("50% off", "50%25%20off"),
        ("e\u3000f", "e%E3%80%80f"), ("%41", "%2541"), ("é/ü", "é/ü"), ("\ta", "%09a"),
    ],
)  # fmt: skip
def test_encode_doc_id(doc_id: str, encoded: str) -> None:
    assert trec.encode_doc_id(doc_id) == encoded
    assert unquote(encoded) == doc_id


def test_every_whitespace_is_encoded() -> None:
    whitespace = [char for char in map(chr, range(sys.maxunicode)) if char.isspace()]
    assert [unquote(trec.encode_doc_id(char)) for char in whitespace] == whitespace
    assert not [char for char in whitespace if trec.encode_doc_id(char) == char]


@given(st.lists(st.text(alphabet="ab%25 0\t\u3000é", max_size=6), min_size=2, max_size=2, unique=True))
def test_encode_doc_id_can_be_reversed_and_keeps_ids_different(doc_ids: list[str]) -> None:
    encoded = [trec.encode_doc_id(doc_id) for doc_id in doc_ids]
    assert encoded[0] != encoded[1]
    assert [unquote(token) for token in encoded] == doc_ids
    assert not any(char.isspace() for token in encoded for char in token)


class TestExport:
    pytestmark = database

    def test_run_and_qrels_join_and_give_the_stored_scores(self) -> None:
        ratings = {"query 1": {"b": 3, "x": 1}, "query 2": {"c d": 1, "50%": 2}, "query 3": {"a": 0}}
        case = make_case(4, ratings, measures=["nDCG@10", "RR@10"])
        attempt = make_attempt(case)
        script_of(attempt).answers |= {"query 2": ("50%", "a", "c d", "a", "e\u3000f"), "query 4": ()}
        run = run_now(attempt)
        qrels, exported = "".join(trec.export_qrels(case=case)), "".join(trec.export_run(run=run))
        assert all(len(line.split()) == 6 for line in exported.splitlines())
        assert "Q0 c%20d 3" in exported
        assert "Q0 50% 1" in exported
        summaries = trec.measure(qrels=qrels, run=exported, measures=["nDCG@10", "RR@10"])
        stored = stored_scores(run)
        for measure in summaries:
            for topic, value in summaries[measure]["per_query"].items():
                text = case.book.queries.get(pk=topic).text
                score = stored[measure, text][1]
                assert (value is None) == (score is None)
                assert value is None or 100 * value == pytest.approx(score)
        assert set(summaries["RR@10"]["per_query"]) == {str(query_of(case, f"query {n}").pk) for n in (1, 2, 3)}

    @pytest.mark.parametrize(
        "scores",
        [
            (3.0, 2.0, 1.0),
            (1.0, 1.0, 1.0),
            (1.0, 2.0, 3.0),
            (None, None, None),
            (2.0, None, 1.0),
            (1e300, 1e299, 1.0),
            (12.34567891, 12.3456789, 12.34567889),  # equal in single precision
            (-1, -2.5, -3e-9),
        ],
    )
    def test_trec_eval_sorts_by_rank(self, scores: tuple[Any, ...]) -> None:
        run = run_now(make_attempt(make_case(1)))
        hits = [[doc_id, score, {}] for doc_id, score in zip("bca", scores, strict=True)]
        set_hits(Ranking.objects.all(), [*hits, ["b", 0.5, {}]])
        lines = [line.split() for line in "".join(trec.export_run(run=run)).splitlines()]
        import numpy as np  # noqa: PLC0415

        with np.errstate(over="ignore"):
            order = sorted(lines, key=lambda cells: (float(np.float32(cells[4])), cells[2]), reverse=True)
        assert [cells[2] for cells in order] == list("bca")
        assert [cells[3] for cells in order] == ["1", "2", "3"]

    def test_grades_have_all_their_digits(self) -> None:
        case = make_case(1, {"query 1": {"a b": 1, "a%20b": 2, "c": 3}})
        case.book.rule = "mean"
        case.book.save()
        query, now = query_of(case, "query 1"), timezone.now()
        for value in (1, 1, 2):
            Rating.objects.create(
                query=query, doc_id="d", rater=make_user(), value=value, created_at=now, updated_at=now
            )
        assert "".join(trec.export_qrels(case=case)).splitlines() == [
            f"{query.pk} 0 a%20b 1", f"{query.pk} 0 a%2520b 2", f"{query.pk} 0 c 3", f"{query.pk} 0 d 1.3333333333333333",
        ]  # fmt: skip

    def test_failed_searches_are_not_exported(self) -> None:
        run = run_now(make_attempt(make_case(2)))
        set_hits(run.rankings.filter(query__text="query 2"), [], error_kind="too slow", error="x")
        assert {line.split()[0] for line in "".join(trec.export_run(run=run)).splitlines()} == {
            str(run.rankings.get(query__text="query 1").query_id)
        }

    def test_run_csv(self) -> None:
        case = make_case(["b, or not", "=a"])
        run = run_now(make_attempt(case))
        first = run.rankings.get(query__text="b, or not")
        first.hits = [["-7", 1.5, {"price": -3, "tags": ["x", "y"], "title": "=1+1", "new": True, "none": None}]]
        set_hits([first])
        moved = case.case_queries.get(query__text="=a")
        moved.position = -1
        moved.save()
        rows = list(csv.reader(io.StringIO("".join(run_csv.export_run(run=run)))))
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
        from tests.engines.static.reading import parse_rankings  # noqa: PLC0415

        run = run_now(make_attempt(make_case(["x, y", "=a", "''z"])))
        read = parse_rankings("".join(run_csv.export_run(run=run))).hits_by_query
        assert {query: [hit.id for hit in hits] for query, hits in read.items()} == {
            text: ["a", "b", "c"] for text in ("x, y", "=a", "''z")
        }


def test_measure_needs_a_measure_that_exists() -> None:
    with pytest.raises(scoring.MeasureError, match="nDGC"):
        trec.measure(qrels="1 0 a 1\n", run="", measures=["nDGC@10"])
