"""Every kind of file that Quepid exports, with its oddities, through the pages: upload, preview, import."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from relevancy import runs
from relevancy.models import Book, Case, Rating, Run
from relevancy.optional.quepid.tests.quepid_files import CASE, ENDPOINT, QUERY, TRY
from relevancy.optional.quepid.tests.test_book import BOOK, OLD, as_file, zipped
from tests.contracts.local_server import json_reply, serving
from tests.views.factories import make_case

SCRIPT = (
    "var k = 5; var sum = 0;\n"
    "eachDoc(function (doc, i) { if (hasDocRating(i)) { sum += docRating(i); } }, k);\n"
    "setScore(sum === 0 ? 0 : 100 * sum / (max * numReturned()));"
)


@pytest.fixture
def case(people, team):
    return make_case(people["editor"], team=team)


def send(client, url, content, do="import", filename="file.json", **data):
    content = content if isinstance(content, bytes) else content.encode()
    return client.post(url, {"do": do, "file": SimpleUploadedFile(filename, content), **data})


def test_a_case_with_options_keywords_and_a_script(sign_in):
    """Options of case, endpoint and query, each overriding the one before; keywords by both notations; a script as scorer."""
    template = "q=#$query##&first=#$keyword1##&second=#$keyword2##&none=#$keyword3##&zero=#$keyword.0##" + "".join(
        f"&{name}=#$qOption.{path}##"
        for name, path in (("lang", "lang"), ("deep", "a.b"), ("sort", "sort|score"), ("market", "market"))
    )
    query = {**QUERY, "query_text": " star wars ", "options": '{"lang": "en", "a": {"b": 7}}'}
    with serving(lambda received: json_reply({"total": 2, "items": [{"id": "a"}, {"id": 7}]})) as server:
        endpoint = {
            **ENDPOINT, "search_engine": "searchapi", "endpoint_url": f"{server.url}/find", "options": '{"market": "b"}',
            "mapper_code": "docsMapper = function (d) { return d.items }", "requests_per_minute": None,
        }  # fmt: skip
        content = {
            **CASE, "queries": [query], "options": {"lang": "de", "market": "a"},
            "scorer": {"name": "Ours", "code": SCRIPT, "scale": [0, 1, 2, 3], "scale_with_labels": None},
            "try": {**TRY, "query_params": template, "search_endpoint": endpoint},
        }  # fmt: skip
        client = sign_in("admin")
        preview = send(client, "/cases/import/", json.dumps(content), "preview")
        (offered,) = [
            value for value, _ in preview.context["form"].fields["endpoint"].choices if value.startswith("file:")
        ]
        answer = send(client, "/cases/import/", json.dumps(content), name="Shop", scorer="", endpoint=offered)
        assert answer.status_code == 302
        run = Run.objects.get()
        runs.continue_run(run.pk)
        run.refresh_from_db()
        assert run.status == "complete"
        sent = server.received[-1].path
    assert sent == ("/find?q=star+wars&first=star&second=wars&none=&zero=star&lang=en&deep=7&sort=score&market=b")
    version = Case.objects.get().case_scorers.get().version
    assert (version.scorer.name, version.script) == ("Ours", SCRIPT)
    # The documents are rated 3 and 1 on the scale 0–3.
    assert run.case_scores.get().score == pytest.approx(100 * 4 / 6)


@pytest.mark.parametrize("content", [as_file(BOOK), as_file(OLD), zipped(), zipped(OLD)])
def test_books_of_both_kinds_also_zipped(sign_in, content):
    assert send(sign_in("editor"), "/books/import/", content.getvalue()).status_code == 302
    book = Book.objects.get()
    assert book.name in ("Phones", "Old")
    assert Rating.objects.filter(query__book=book).count() == (6 if book.name == "Phones" else 1)


def test_several_snapshots_of_one_file_become_several_runs(sign_in, case):
    header = "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,title,tags"
    rows = [
        '(11/2/2026) before,2026-11-02,9,star wars,a,1,"A New Hope, 1977","[""x""]"',
        "(11/2/2026) before,2026-11-02,9,star wars,b,2,,",
        "(11/3/2026) after,2026-11-03,9,star wars,b,1, =Sum,",
    ]
    text = "\r\n".join([header, *rows])
    answer = send(sign_in("editor"), f"/cases/{case.pk}/files/import-runs/", text, filename="snapshots.csv")
    assert answer.status_code == 302
    rankings = {
        run.name: [hit[0] for hit in run.rankings.get(query__text="star wars").hits] for run in Run.objects.all()
    }
    assert rankings == {"(11/2/2026) before": ["a", "b"], "(11/3/2026) after": ["b"]}


def test_quotes_are_read_as_quepid_writes_them(sign_in, case):
    """Quepid doubles quotes in every cell, and quotes only those with a comma; queries without documents have four cells."""
    client, url = sign_in("editor"), f"/cases/{case.pk}/files"
    header = "Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating\r\n"
    rows = ['T,C,9,""star wars"",a,1,24"" monitor,3', 'T,C,9,"alien, the ""first""",b,1,,2', "T,C,9,nothing"]
    detailed = header + "\r\n".join(rows)
    assert send(client, f"{url}/import-ratings/", detailed).status_code == 302
    ratings = Rating.objects.filter(query__book=case.book).values_list("query__text", "doc_id", "value")
    assert set(ratings) == {('"star wars"', "a", 3), ('alien, the "first"', "b", 2)}
    assert case.book.queries.filter(text="nothing").exists()
    assert send(client, f"{url}/import-runs/", detailed).status_code == 302
    (hit,) = Run.objects.get().rankings.get(query__text='"star wars"').hits
    assert hit[2]["Title"] == '24" monitor'
    general = (
        "Team Name,Case Name,Case ID,Query Text,Score,Date Last Scored,Count,Information Need,Notes,Options\r\n"
        'T,C,9,""new hope"",0.5,,1,a ""film"",,\r\n'
    )
    assert send(client, f"{url}/import-queries/", general).status_code == 302
    assert case.book.queries.get(text='"new hope"').information_need == 'a "film"'


OF_API = {
    "id": 3, "name": "before", "time": "2026-11-02T10:00:00.000Z", "has_snapshot_file": False,
    "scorer": {"scorer_id": 1, "name": "nDCG@10"}, "try": {"try_number": 4},
    "docs": {
        "7": [
            {"id": "b", "explain": "{}", "rated_only": False, "fields": '{"title": "A New Hope"}'},
            {"id": 12, "explain": None, "rated_only": None, "fields": {"title": ["Jaws", "2"]}},
            {"id": "c", "explain": None, "rated_only": True},
        ],
        "8": [{"id": "x", "rated_only": False}],
    },
    "queries": [{"query_id": 7, "query_text": "star wars", "ratings": {"b": 3}}],
    "scores": [{"query_id": 7, "score": 0.5, "all_rated": True, "number_of_results": 2}],
}  # fmt: skip
FOR_IMPORT = {
    "snapshots": [
        {"name": "one", "created_at": "2026-11-02", "queries": {"star wars": {"docs": [
            {"id": "a", "position": 2, "fields": {"title": "Alien"}}, {"id": "b", "position": 1}]}}},
        {"name": "two", "queries": {"star wars": {"docs": [{"id": "c"}]}, "star trek": {"docs": []}}},
    ]
}  # fmt: skip


def test_snapshots_of_the_api_become_runs(sign_in, case):
    client, url = sign_in("editor"), f"/cases/{case.pk}/files/import-runs/"
    preview = send(client, url, json.dumps(OF_API), "preview")
    assert preview.status_code == 200
    assert "rated_only" in preview.content.decode()
    assert send(client, url, zipped(OF_API).getvalue()).status_code == 302
    run = Run.objects.get()
    assert (run.name, run.note) == ("before", "Imported: Quepid snapshot of 2026-11-02T10:00:00.000Z")
    hits = run.rankings.get(query__text="star wars").hits
    assert [hit[0] for hit in hits] == ["b", "12"]
    assert hits[1][2] == {"title": ["Jaws", "2"]}
    assert send(client, url, json.dumps(FOR_IMPORT)).status_code == 302
    others = {run.name: [hit[0] for hit in run.rankings.get(query__text="star wars").hits] for run in Run.objects.all()}
    assert others == {"before": ["b", "12"], "one": ["b", "a"], "two": ["c"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({**OF_API, "queries": []}, "queries: the texts of the queries are missing"),
        ({**OF_API, "docs": {"7": [{"id": ""}]}}, "docs.7[1].id: a document needs an id"),
        (
            {**OF_API, "docs": {"7": [{"id": "a", "fields": "{"}]}},
            "docs.7[1].fields: '{' cannot be read: Line 1: column 2: ",
        ),
        ({"snapshots": [{"name": "x", "time": "y"}]}, "snapshots[1].docs: the documents are missing"),
        ({"snapshots": []}, "The file has no snapshot."),
    ],
)
def test_snapshots_that_cannot_be_read_are_refused(sign_in, case, content, message):
    answer = send(sign_in("editor"), f"/cases/{case.pk}/files/import-runs/", json.dumps(content))
    assert answer.status_code == 422
    assert message in str(answer.context["runs_form"].errors["file"].data[0].message)
    assert not Run.objects.exists()


def test_ratings_with_semicolons_and_queries_without_ratings(sign_in, case, people):
    url = f"/cases/{case.pk}/files/import-ratings/"
    text = "query,docid,rating\nstar wars; the films,a;1,3.0\nnothing,,\n =danger,b,2.0"  # without a line end
    assert send(sign_in("editor"), url, text, filename="basic.csv").status_code == 302
    assert send(sign_in("editor"), url, "query;docid;rating\nexcel;c;1,0\n", filename="excel.csv").status_code == 302
    result = Rating.objects.filter(query__book=case.book).values_list("query__text", "doc_id", "value")
    assert set(result) == {("star wars; the films", "a;1", 3.0), ("=danger", "b", 2.0), ("excel", "c", 1.0)}
    assert case.book.queries.filter(text="nothing").exists()
