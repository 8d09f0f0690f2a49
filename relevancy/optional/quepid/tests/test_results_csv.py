"""The exports “General” and “Detailed”, and pinned runs as snapshots: their columns, their numbers, and what imports make of them."""

import csv
import io

import pytest

from relevancy import queries, ratings, runs, scores
from relevancy.formats import exports, file_formats
from relevancy.formats.queries import queries_import
from relevancy.formats.ratings import ratings_import
from relevancy.models import Case, Team
from tests.factories import make_attempt, make_case, query_of, run_now, script_of
from tests.formats.test_runs_file import store

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
GENERAL = ["Team Name", "Case Name", "Case ID", "Query Text", "Score", "Date Last Scored", "Count"]
GENERAL += ["Information Need", "Notes", "Options"]
DETAILED = ["Team Name", "Case Name", "Case ID", "Query Text", "Doc ID", "Doc Position", "Title", "Rating"]


def download(case, name):
    with exports.files_of(Case)[name].open(case, case.owner) as file:
        return file.read()


def table(case, name):
    return list(csv.reader(io.StringIO(download(case, name).decode(), newline=""), strict=True))


@pytest.fixture
def case():
    """Three queries: one with results, one without, and one whose text is a formula."""
    case = make_case(["wars", "nothing", "=1+1"], {"wars": {"a": 3, "c": 1}}, measures=("P@2",))
    for name in ("shops", "films"):
        case.teams.add(Team.objects.create(name=name))
    details = {"information_need": "need", "notes": "@note", "options": {"k": [1]}}
    queries.change_details(case=case, changes={"wars": details})
    attempt = make_attempt(case, fields="id:id title:title price")
    script_of(attempt).answers = {"nothing": []}
    case.run = run_now(attempt)
    return case


def test_general_has_the_columns_of_quepid_and_the_scores_of_the_newest_run(case):
    header, *rows = table(case, "general")
    assert header == GENERAL
    ended = case.run.finished_at.isoformat(timespec="seconds")
    of_case = ["films,shops", case.name, str(case.pk)]
    score = case.run.query_scores.get(query__text="wars").score
    assert score == 50
    assert rows == [
        [*of_case, "wars", "50.0", ended, "3", "need", "'@note", '{"k": [1]}'],
        [*of_case, "nothing", "", ended, "0", "", "", ""],
        [*of_case, "'=1+1", "", ended, "3", "", "", ""],
    ]


def test_general_has_no_score_that_is_older_than_the_ratings(case):
    ratings.rate(query=query_of(case, "wars"), doc_id="b", value=3, by=case.owner)
    assert table(case, "general")[1][4] == ""
    scores.rescore_run(case.run)
    assert table(case, "general")[1][4] == "100.0"


def test_detailed_has_a_row_for_each_document_with_its_grade(case):
    header, *rows = table(case, "detailed")
    assert header == [*DETAILED, "price"]
    of_case = ["films,shops", case.name, str(case.pk)]
    assert rows[:4] == [
        [*of_case, "wars", "a", "1", "", "3", ""],
        [*of_case, "wars", "b", "2", "", "", ""],
        [*of_case, "wars", "c", "3", "", "1", ""],
        [*of_case, "nothing", "", "", "", "", ""],
    ]
    assert [row[3:6] for row in rows[4:]] == [["'=1+1", name, str(rank)] for rank, name in enumerate("abc", 1)]


def test_detailed_has_titles_and_fields_of_the_documents():
    case = make_case(["wars"])
    text = "query,docid,position,title,price,colour\nwars,a,1,=Star Wars,3.5,\nwars,b,2,Other,,red\n"
    store(case, text)
    header, first, second = table(case, "detailed")
    assert header[:8] == DETAILED
    assert first[4:8] == ["a", "1", "'=Star Wars", ""]
    assert sorted(header[8:]) == ["colour", "price"]
    assert second[header.index("colour")] == "red"


def test_a_case_without_a_run_has_its_queries():
    case = make_case(["wars"])
    assert [row[3:7] for row in table(case, "general")[1:]] == [["wars", "", "", ""]]
    assert table(case, "detailed") == [DETAILED, ["", case.name, str(case.pk), "wars", "", "", "", ""]]


def test_general_is_imported_as_queries_and_detailed_as_ratings_and_as_a_run(case):
    other = make_case([])
    source = queries_import.open_source(case=other, file=io.BytesIO(download(case, "general")))
    assert queries_import.import_queries(case=other, source=source).added == 3
    wars = other.case_queries.get(query__text="wars")
    assert (wars.query.notes, wars.query.information_need, wars.options) == ("@note", "need", {"k": [1]})
    detailed = download(case, "detailed")
    source = ratings_import.open_source(case=other, file=io.BytesIO(detailed))
    assert ratings_import.import_ratings(case=other, source=source, by=other.owner).ratings == 2
    assert scores.known_grades(other.book, [wars.query_id]) == {wars.query_id: {"a": 3, "c": 1}}
    assert [file_format.name for file_format in file_formats.detect(file_formats.read_head(io.BytesIO(detailed)))] == [
        "csv",
        "rankings-csv",
    ]
    (run,) = store(other, detailed.decode()).runs
    assert run.rankings.get(query=wars.query).hits[0][0] == "a"


def test_pinned_runs_become_runs_again():
    case = make_case(["wars", "=1"])
    text = "Snapshot Name,Snapshot Time,Query Text,Doc ID,Doc Position,title\nmay,,wars,2,1,T\njune,,wars,1,1,\n"
    text += "june,,'=1,+3,1,'-x\n"
    store(case, text)
    runs.unpin(run=case.runs.get(name="may"))
    assert [row[0] for row in table(case, "snapshots")[1:]] == ["june", "june"]
    runs.pin(run=case.runs.get(name="may"))
    exported = download(case, "snapshots").decode()
    other = make_case(["wars", "=1"])
    imported = store(other, exported)
    assert [run.name for run in imported.runs] == ["may", "june"]
    for new, old in zip(imported.runs, case.runs.order_by("number"), strict=True):
        hits = [
            sorted(
                (ranking.query.text, hit[0], tuple(hit[2].items()))
                for ranking in run.rankings.all()
                for hit in ranking.hits
            )
            for run in (new, old)
        ]
        assert hits[0] == hits[1]
