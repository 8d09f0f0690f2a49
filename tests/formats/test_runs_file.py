"""Rankings made elsewhere become runs that are scored, compared and never searched."""

from io import BytesIO
from typing import Any

import pytest

from relevancy import comparison, formats, runs, scores
from relevancy.formats.rankings import run_csv, runs_file
from relevancy.formats.ratings import trec
from relevancy.models import Attempt, Case, Endpoint, Ranking, Run
from tests.factories import make_attempt, make_case, query_of, run_now, script_of, stored_scores

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script", "data_dir")]
RATINGS = {"query 1": {"a": 3, "b": 1}, "query 2": {"a": 3}}
SNAPSHOTS = """\
Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,title,Release Date
before,2025-01-02T03:04:05Z,7,query 1,x,1,Film X,1999
before,2025-01-02T03:04:05Z,7,query 1,a,2,Film A,
after,2025-02-02T03:04:05Z,7,query 1,a,1,Film A,
after,2025-02-02T03:04:05Z,7,query 2,b,2,,
after,2025-02-02T03:04:05Z,7,query 2,a,1,,
"""


@pytest.fixture
def case() -> Case:
    return make_case(3, RATINGS, measures=("P@1", "nDCG@10"))


def store(case: Case, text: str, **fields: Any) -> runs_file.ImportedRuns:
    snapshots = runs_file.read_file(file=BytesIO(text.encode()))
    return runs_file.import_runs(case=case, snapshots=snapshots, by=case.owner, **fields)


def import_text(case: Case, text: str, **fields: Any) -> runs_file.ImportedRuns:
    imported = store(case, text, **fields)
    for run in imported.runs:
        scores.rescore_run(run)
    return imported


def lists_of(run: Run) -> dict[str, str]:
    return {ranking.text: "".join(hit[0] for hit in ranking.hits) for ranking in Ranking.objects.filter(run=run)}


def test_each_snapshot_of_a_file_becomes_a_run(case: Case) -> None:
    imported = import_text(case, SNAPSHOTS)
    before, after = imported.runs
    assert [(run.number, run.name, run.note) for run in (before, after)] == [
        (1, "before", "Imported: CSV of 2025-01-02T03:04:05Z"),
        (2, "after", "Imported: CSV of 2025-02-02T03:04:05Z"),
    ]
    assert lists_of(before) == {"query 1": "xa", "query 2": "", "query 3": ""}
    assert lists_of(after) == {"query 1": "a", "query 2": "ab", "query 3": ""}
    assert before.rankings.get(query__text="query 1").hits[0] == [
        "x",
        None,
        {"title": "Film X", "Release_Date": "1999"},
    ]
    assert runs.field_spec(before.config).display({"id": "x", "title": "Film X", "Release_Date": "1999"}).subs == (
        ("Release_Date", "1999"),
    )
    assert imported.plan.unknown == []
    assert imported.plan.without_results == ["query 2", "query 3"]


def test_imported_runs_are_scored_and_compared(case: Case) -> None:
    before, after = import_text(case, SNAPSHOTS).runs
    assert stored_scores(before)["P@1", "query 1"][1] == 0
    assert stored_scores(before)["P@1", "query 2"][1] == 0  # nothing returned, and a relevant document is known
    assert stored_scores(after)["P@1", "query 2"][1] == 100
    version = case.case_scorers.order_by("position").first().version
    result = comparison.compare(runs=[before, after], version=version)
    assert result.means == [0, 100]
    assert result.table.left_out == ["query 3"]


def test_an_imported_run_is_complete_pinned_and_cannot_be_searched(case: Case) -> None:
    (run,) = import_text(case, "query,docid,position\nquery 1,a,1\n", name="theirs").runs
    assert (run.status, run.done, run.failed, run.name) == (Run.Status.COMPLETE, 3, 0, "theirs")
    assert run.pinned_at
    assert run.attempt.archived_at
    assert run.attempt.endpoint.archived_at
    assert runs.is_imported(run)
    ranking = run.rankings.get(query__text="query 1")
    ranking.run = run
    assert not runs.abilities(ranking.run).lookup
    with pytest.raises(runs.RunNotAllowed, match="pinned"):
        runs.complete(run=run, by=case.owner)
    with pytest.raises(runs.RunNotAllowed, match="archived"):
        runs.start(attempt=run.attempt, by=case.owner)


def test_imports_of_a_case_share_one_archived_endpoint_and_have_attempts_of_their_own(case: Case) -> None:
    import_text(case, SNAPSHOTS)
    import_text(case, "query,docid,position\nquery 1,a,1\n")
    assert Endpoint.objects.count() == 1
    assert not Endpoint.objects.live().exists()
    assert list(Attempt.objects.order_by("number").values_list("number", "name")) == [
        (1, "before"),
        (2, "after"),
        (3, ""),
    ]


def test_a_trec_run_is_ordered_by_score_and_each_tag_is_a_run(case: Case) -> None:
    ids = [query_of(case, f"query {number}").pk for number in (1, 2)]
    text = (
        f"{ids[0]} Q0 b 1 1.5 bm25\n{ids[0]} Q0 a 2 2.5 bm25\n{ids[1]} Q0 a 1 0.5 bm25\n"
        f"{ids[0]} Q0 x 1 9 dense\n999999 Q0 x 1 9 dense\n"
    )
    imported = import_text(case, text)
    assert [run.name for run in imported.runs] == ["bm25", "dense"]
    assert [lists_of(run)["query 1"] for run in imported.runs] == ["ab", "x"]
    assert imported.plan.unknown == ["999999"]
    named = import_text(case, text, name="night")
    assert [run.name for run in named.runs] == ["night: bm25", "night: dense"]


def test_topics_of_a_trec_run_may_be_texts() -> None:
    case = make_case(["alpha", "beta"], {"alpha": {"a": 3}})
    (run,) = import_text(case, "alpha Q0 a 1 2 t\nbeta Q0 b 1 1 t\n").runs
    assert lists_of(run) == {"alpha": "a", "beta": "b"}


def test_topics_are_texts_if_more_of_them_are_found_so() -> None:
    case = make_case(["4711", "4712"], {"4711": {"a": 3}})
    (run,) = import_text(case, "4711 Q0 a 1 2 t\n4712 Q0 b 1 1 t\n").runs
    assert lists_of(run) == {"4711": "a", "4712": "b"}


@pytest.mark.parametrize("export", [run_csv.export_run, trec.export_run])
def test_exported_runs_import_as_the_same_rankings(case: Case, export: Any) -> None:
    attempt = make_attempt(case)
    answers = {"query 1": ["a b", "c%20d", "'e"], "query 2": ["x"], "query 3": []}
    script_of(attempt).answers = answers
    run = run_now(attempt)
    (imported,) = import_text(case, "".join(export(run=run))).runs
    ids = {ranking.text: [hit[0] for hit in ranking.hits] for ranking in imported.rankings.all()}
    assert ids == answers


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("query,docid,position,title\nquery 1,a,1,b\x00c\n", r"Line 2 .*U\+0000"),
        ("query,docid,position\n", "contains no query"),
        ("query,docid,position\nquery 1,a,first\n", "Line 2, column position"),
        ("query,docid,position\nquery 9,a,1\n", "no query of the case"),
        ("query,docid,position\nquery 1," + "x" * 3000 + ",1\n", "Document id"),
        ("1 Q0 a 1 high t\n", "Line 1, column score"),
        ("query,docid\nquery 1,a\n", "no column “Doc Position”"),
        ("query,docid,position\n e\u0301,a,1\n\u00e9,b,1\n", "twice"),
    ],
)
def test_a_bad_file_changes_nothing(text: str, message: str) -> None:
    case = make_case(["query 1", "\u00e9"], {"query 1": {"a": 3}})
    with pytest.raises(formats.BadFile, match=message):
        store(case, text)
    assert not Run.objects.exists()
    assert not Endpoint.objects.exists()


def test_a_name_that_cannot_be_stored_changes_nothing(case: Case) -> None:
    text = SNAPSHOTS.replace("after,", "after\x07,")
    with pytest.raises(formats.BadFile, match=r"name in the file: .*U\+0007"):
        store(case, text)
    assert not Run.objects.exists()


def test_long_rankings_are_cut(case: Case) -> None:
    rows = "".join(f"query 1,d{rank},{rank}\n" for rank in range(1, 1501))
    (run,) = import_text(case, "query,docid,position\n" + rows).runs
    assert len(run.rankings.get(query__text="query 1").hits) == 1000
    assert run.rows == 1000


def test_what_was_left_out_is_said(case: Case) -> None:
    imported = import_text(case, "query,docid,position\nquery 1,a,1\nquery 7,a,1\n")
    text = runs_file.describe_import(imported)
    assert "Run 1" in text
    assert "1 query ('query 7')" in text
    assert "2 queries ('query 2', 'query 3')" in text


def test_documents_that_are_only_rated_are_no_results(case: Case) -> None:
    text = "Query Text,Doc ID,Doc Position,title,rated_only\nquery 1,a,1,A,false\nquery 1,b,2,B,true\nquery 2,c,1,C,\n"
    imported = import_text(case, text)
    (run,) = imported.runs
    assert [[hit[0] for hit in run.rankings.get(query__text=f"query {number}").hits] for number in (1, 2)] == [
        ["a"],
        ["c"],
    ]
    assert "(rated_only): 1 row." in runs_file.describe_import(imported)
    assert "rated_only" not in run.config["fields"]
