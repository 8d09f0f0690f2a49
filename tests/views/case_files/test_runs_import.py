"""Tests of importing runs on the page with the files of a case."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from relevancy import cases, queries, ratings
from relevancy.models import Endpoint, Run
from tests.views.factories import make_case, make_run

ROWS = "query,docid,position,title\nstar wars,1,1,A New Hope\nstar trek,2,1,First Contact\n"


@pytest.fixture
def case(people, team):
    case = make_case(people["admin"], team=team)
    ratings.rate(query=case.book.queries.get(text="star wars"), doc_id="1", value=10, by=people["editor"])
    return case


def send(client, case, content, **data):
    data["file"] = SimpleUploadedFile("file.csv", content.encode())
    return client.post(f"/cases/{case.pk}/files/import-runs/", data)


def test_an_imported_run_leads_to_its_comparison_with_the_run_before(sign_in, case, django_capture_on_commit_callbacks):
    make_run(case)
    client = sign_in("editor")
    with django_capture_on_commit_callbacks(execute=True):
        answer = send(client, case, ROWS, name="Production")
    imported = Run.objects.get(name="Production")
    assert answer.status_code == 302
    assert answer.url == f"/cases/{case.pk}/compare/?run=1&run={imported.number}"
    assert client.get(answer.url).status_code == 200
    assert imported.created_by.name == "Editor"


def test_the_workbench_shows_an_imported_run_and_its_results(sign_in, case):
    client = sign_in("editor")
    assert send(client, case, ROWS, name="Production").url == f"/cases/{case.pk}/"
    case_query = case.case_queries.get(query__text="star wars")
    page = client.get(f"/cases/{case.pk}/?open={case_query.pk}").content.decode()
    assert "A New Hope" in page
    assert 'data-notice="endpoint-not-usable"' not in page
    assert "engine-missing" not in page


def test_the_attempt_to_edit_stays_that_of_the_engine(sign_in, case):
    client = sign_in("editor")
    send(client, case, ROWS)
    tune = client.get(f"/cases/{case.pk}/").context["tune"]
    assert tune.attempt.number == 1
    assert [node.attempt.number for node in tune.attempts] == [1]
    assert [row.attempt.number for row in tune.archived] == [2]


def test_a_case_without_an_endpoint_opens_on_its_imported_run(sign_in, people, team):
    case = cases.create(name="Theirs", owner=people["owner"])
    cases.share(case=case, team=team)
    queries.add(case=case, texts=["star wars", "star trek"])
    client = sign_in("editor")
    assert client.get(f"/cases/{case.pk}/").status_code == 200
    send(client, case, ROWS)
    page = client.get(f"/cases/{case.pk}/")
    assert page.status_code == 200
    assert page.context["tune"].attempt is None
    assert sign_in("viewer").get(f"/cases/{case.pk}/").status_code == 200


def test_a_bad_file_is_refused_beside_its_field(sign_in, case):
    answer = send(sign_in("editor"), case, "query,docid,position\nstar wars,1,first\n")
    assert answer.status_code == 422
    assert "Line 2, column position" in answer.content.decode()
    assert not Run.objects.exists()


def test_an_active_run_is_waited_for(sign_in, case):
    make_run(case, status=Run.Status.RUNNING)
    answer = send(sign_in("editor"), case, ROWS)
    assert answer.status_code == 422
    assert "still running" in answer.content.decode()
    assert Endpoint.objects.count() == 1


SNAPSHOTS = """\
Snapshot Name,Snapshot Time,Query Text,Doc ID,Doc Position
before,may,star wars,1,1
before,may,alien,1,1
after,june,star wars,1,1
after,june,star wars,2,2
"""


def preview(client, case, content, name="file.csv", **headers):
    data = {
        "do": "preview",
        "file": SimpleUploadedFile(name, content if isinstance(content, bytes) else content.encode()),
    }
    return client.post(f"/cases/{case.pk}/files/import-runs/", data, headers=headers)


def test_a_preview_names_the_runs_and_what_is_left_out_and_stores_nothing(sign_in, case):
    page = preview(sign_in("editor"), case, SNAPSHOTS, **{"HX-Request": "true"})
    text = page.content.decode()
    assert page.status_code == 200 and "<html" not in text
    plan = page.context["runs_plan"]
    assert [(item.name, item.documents) for item in plan.rankings] == [("before", 1), ("after", 2)]
    assert (plan.unknown, plan.without_results) == (["alien"], ["star trek"])
    assert text.count("data-remark") == 2
    assert 'form="runs-preview-form"' in text
    assert not Run.objects.exists()
    assert "data-remark" in preview(sign_in("editor"), case, SNAPSHOTS).content.decode()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("query,docid,rating\nstar wars,1,3\n", "ratings as CSV"),
        ("1 0 a 3\n", "TREC qrels"),
        ("query,notes\nstar wars,x\n", "queries as CSV"),
        ('{"format": "relevancy/1", "kind": "case"}', "a case of Relevancy"),
        ("1 Q0 1 1 high run\n", "Line 1"),
        ("query,docid,position\nstar wars,1,x\n", "Line 2"),
        ("query,docid,position\nstar wars,\xe9,1\n".encode("latin-1"), "not valid UTF-8"),
        ("", "empty"),
    ],
)
@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_other_files_are_refused_with_what_they_are(sign_in, case, content, words, headers):
    page = preview(sign_in("editor"), case, content, **headers)
    assert page.status_code == 422
    assert words in page.content.decode()
    assert not Run.objects.exists()
