"""`import_run CASE FILE`, and `create_case` without an endpoint."""

import io
import json

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from relevancy.models import Case, Run
from tests.factories import make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]


@pytest.fixture
def files(tmp_path):
    """Writes text files; returns a function that gives the path of a name."""

    def write(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def call(*arguments):
    out, err = io.StringIO(), io.StringIO()
    call_command(*arguments, stdout=out, stderr=err)
    return out.getvalue()


def create(files, *options):
    ratings = files("ratings.csv", "query,docid,rating\nrings,a,3\nrings,b,0\nwars,c,3\n")
    owner = make_user()
    return call("create_case", "Theirs", "--ratings", ratings, "--scale", "0:3", "--owner", owner.email, *options)


def test_a_case_without_an_endpoint_holds_imported_runs_and_compares_them(files):
    assert "import_run" in create(files, "--scorer", "P@10")
    case = Case.objects.get(name="Theirs")
    assert not case.attempts.exists()
    old = files("old.csv", "query,docid,position\nrings,b,1\nwars,c,1\n")
    new = files("new.trec", "rings Q0 a 1 2 new\nwars Q0 c 1 1 new\n")
    assert "Would import old." in call("import_run", "Theirs", old, "--name", "old", "--dry-run")
    assert not Run.objects.exists()
    assert "Run 1, old imported" in call("import_run", "Theirs", old, "--name", "old")
    call("import_run", "Theirs", new)
    first, second = Run.objects.order_by("number")
    assert second.name == "new"
    result = json.loads(call("compare", str(first.pk), str(second.pk), "--json"))
    assert [run["score"] for run in result["runs"]] == [5, 10]
    assert result["pairs"][0]["wins"] == 1


def test_a_bad_file_is_an_error_without_a_traceback(files):
    create(files)
    with pytest.raises(CommandError, match="Line 2, column position") as caught:
        call("import_run", "Theirs", files("bad.csv", "query,docid,position\nrings,a,x\n"))
    assert caught.value.returncode == 2
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--template", "-"], "--template needs an endpoint"),
        (["--fields", "id"], "--fields needs an endpoint"),
        (["--endpoint", "films"], "needs a query template"),
    ],
)
def test_options_of_an_attempt_belong_to_an_endpoint(files, options, message):
    with pytest.raises(CommandError, match=message):
        create(files, *options)
    assert not Case.objects.exists()


def test_a_case_without_an_endpoint_needs_queries():
    with pytest.raises(CommandError, match="needs queries"):
        call("create_case", "Nothing", "--owner", make_user().email)
