"""Files that are put together of parts are the same, byte by byte, as those that a writer of rows or JSON makes of whole rankings."""

import csv
import io
import json
from typing import Any

import pytest
from django.utils import timezone

from relevancy.formats import progress
from relevancy.formats.cells import protect
from relevancy.formats.exports import files_of
from relevancy.formats.rankings import run_csv
from relevancy.formats.ratings import trec
from relevancy.models import Book, Case, Query, Ranking, Run, ranking
from tests.factories import make_attempt, make_case, query_of, run_now, set_hits

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script", "data_dir")]
TEXTS = ["plain", '=cmd, "quoted"', "ünïcode\ttab", "failed", "removed", "without results"]
HITS: list[Any] = [
    ["a", 3.25, {"title": 'A, with a comma and "quotes"', "year": 1999}],
    ["=b", 3.0, {"title": "two\nlines", "tags": ["x", "y"], "empty": ""}],
    ["c d", 2.5, {}, {"title": "a <em>snippet</em>"}],
    ["a", 2.0, {"title": "another version", "is_new": True, "none": None}],
]


@pytest.fixture(params=[1, 1000], ids=["one at a time", "all at once"])
def run(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A pinned run with everything that can be different about results. In parts and caches of one, or of all."""
    for module, name in ((run_csv, "CHUNK"), (trec, "CHUNK"), (ranking, "_KEPT")):
        monkeypatch.setattr(module, name, request.param)
    case = make_case(TEXTS, {"plain": {"a": 3, "b": 1.5}})
    run = run_now(make_attempt(case))
    set_hits(run.rankings.filter(query__text=TEXTS[0]), HITS)
    set_hits(run.rankings.filter(query__text=TEXTS[1]), HITS[::-1], options={"fq": "x:1"}, total=7, took_ms=12)
    set_hits(run.rankings.filter(query__text=TEXTS[2]), HITS[1:2], former_text="before, the edit")
    run.rankings.filter(query__text="failed").update(error_kind="unreachable", error="It did not answer.")
    set_hits(run.rankings.filter(query__text="removed"), HITS[:1])
    set_hits(run.rankings.filter(query__text="without results"), [])
    case.case_queries.filter(query__text="removed").update(removed_at=timezone.now())
    case.case_queries.filter(query__text="plain").update(position=1000)  # the last one
    Run.objects.filter(pk=run.pk).update(pinned_at=timezone.now(), name="-named", config={**run.config, "fields": "*"})
    return Run.objects.select_related("case__book").get(pk=run.pk)


def text_of(row: Case | Run | Book, name: str) -> str:
    with files_of(type(row))[name].open(row, row.case.owner if isinstance(row, Run) else row.owner) as file:
        return file.read().decode()


def in_order(run: Run) -> list[Ranking]:
    by_query = {row.query_id: row for row in Ranking.objects.filter(run=run)}
    return [by_query[query_id] for query_id in run.case.case_queries.texts()]


def test_a_run_as_csv_is_what_a_writer_of_rows_writes(run: Run) -> None:
    rankings = [row for row in in_order(run) if not row.error_kind]
    names = list(dict.fromkeys(name for row in rankings for hit in row.hits for name in hit[2]))
    assert {"title", "is_new", "none", "tags", "empty", "year"} <= set(names)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*run_csv.HEADER, *names))
    head = ("-named", run.created_at.isoformat(timespec="seconds"), str(run.case_id))
    for row in rankings:
        for rank, (doc_id, _, fields, *_) in enumerate(row.hits, 1):
            cells = (*head, row.text, doc_id, rank, *(run_csv.format_value(fields.get(name)) for name in names))
            writer.writerow([protect(cell) if isinstance(cell, str) else cell for cell in cells])
    assert text_of(run, "csv") == out.getvalue()
    assert text_of(run.case, "snapshots") == out.getvalue()


def test_a_run_without_fields_has_no_further_columns(run: Run) -> None:
    set_hits(Ranking.objects.filter(run=run), [["a", 1.0, {}]])
    assert text_of(run, "csv").splitlines()[1].endswith(",a,1")


def test_fields_are_read_until_all_have_occurred(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run.config["fields"] = "title:title id:title missing"
    assert "year" in run_csv.field_names([run])  # all rankings are read
    monkeypatch.setattr(run_csv, "CHUNK", 1)
    set_hits(run.rankings.filter(query__text=TEXTS[1]), HITS[1:2])
    run.config["fields"] = "title:title id:title"
    assert set(run_csv.field_names([run])) == {"title", "tags", "empty"}  # those of the first query


def test_a_run_as_trec_lists_each_document_once_at_a_score_that_sorts_it(run: Run) -> None:
    expected = []
    for row in sorted(in_order(run), key=lambda row: row.query_id):
        score_by_doc: dict[str, Any] = {}
        for hit in [] if row.error_kind else row.hits:
            score_by_doc.setdefault(hit[0], hit[1])
        values = list(score_by_doc.values())
        if values != sorted(set(values), reverse=True):
            values = list(range(len(values), 0, -1))
        expected += [
            f"{row.query_id} Q0 {doc_id.replace(' ', '%20')} {rank} {score!r} relevancy-run-{run.number}"
            for rank, (doc_id, score) in enumerate(zip(score_by_doc, values, strict=True), 1)
        ]
    removed = query_of(run.case, "removed").pk
    lines = text_of(run, "trec").splitlines()
    assert [line for line in lines if not line.startswith(f"{removed} ")] == expected
    assert len(lines) == len(expected) + 1  # the run has results of the query that was removed


def test_rankings_in_the_file_of_a_case_are_what_json_makes_of_them(run: Run) -> None:
    expected = []
    for row in in_order(run):
        optional = {
            "text": row.former_text,
            "options": row.options,
            "total": row.total,
            "took_ms": row.took_ms,
            "error_kind": row.error_kind,
            "error": row.error,
        }
        kept = {name: value for name, value in optional.items() if value not in ("", None, {})}
        element = {"run": run.number, "query": row.query.text, **kept, "hits": row.hits}
        expected.append(json.dumps(element, ensure_ascii=False))
    section = text_of(run.case, "case").partition('"rankings": [\n    ')[2]
    assert section == ",\n    ".join(expected) + "\n  ]\n}\n"
    assert any("<em>" in line for line in expected)


@pytest.mark.parametrize("name", [name for name in files_of(Case) if name not in {"quepid", "general", "detailed"}])
def test_files_of_cases_count_their_steps(run: Run, name: str) -> None:
    counted: list[int] = []
    export = files_of(Case)[name]
    with progress.reported_to(counted.append):
        assert "".join(export.write(run.case, run.case.owner))
    assert counted == sorted(counted)
    # The pinned run has a ranking of a query that is no longer in the case, and one that has failed.
    assert abs(counted[-1] - export.steps(run.case)) <= 2


@pytest.mark.parametrize(("name", "times"), [("ratings", 1), ("book", 2)])
def test_files_of_books_count_their_steps(run: Run, name: str, times: int) -> None:
    counted: list[int] = []
    book, export = run.case.book, files_of(Book)[name]
    with progress.reported_to(counted.append):
        assert "".join(export.write(book, book.owner))
    assert counted[-1] == export.steps(book) == times * Query.objects.filter(book=book).count()


def test_nothing_is_reported_after_a_file_has_been_written(run: Run) -> None:
    counted: list[int] = []
    with progress.reported_to(counted.append):
        pass
    progress.count_read(3)
    assert counted == []
