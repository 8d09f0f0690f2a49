"""Files of Quepid by commands."""

import json

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from relevancy.models import Book, Case, Endpoint, Rating
from relevancy.optional.quepid.tests.quepid_files import CASE, TRY
from relevancy.optional.quepid.tests.test_book import BOOK, zipped
from tests.factories import make_endpoint, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner():
    return make_user("Root", superuser=True)


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "case.json"
    file.write_text(json.dumps(CASE))
    return str(file)


def test_import_case_creates_case_and_endpoint(owner, path, capsys):
    call_command("import_case", path, "--create-endpoint")
    case = Case.objects.get()
    output = capsys.readouterr()
    assert f"Case {case.pk} Shop: phones created with 2 queries and 2 ratings of 2 raters" in output.out
    assert "counts a query that cannot be scored as 0" in output.err
    assert Endpoint.objects.get().owner == owner
    assert "secret" not in output.out + output.err


def test_import_case_uses_an_endpoint(owner, path, tmp_path, script):
    endpoint = make_endpoint(owner)
    (tmp_path / "case.json").write_text(json.dumps({**CASE, "try": {**TRY, "query_params": "{}"}}))
    call_command("import_case", path, "--endpoint", endpoint.name, "--name", "Mine", "--scorer", "P@10")
    case = Case.objects.get(name="Mine")
    assert case.attempts.get().endpoint == endpoint
    assert [str(scorer) for scorer in case.scorers.all()] == ["P@10"]


def test_import_case_does_not_use_the_address_of_the_file_unasked(owner, path):
    with pytest.raises(CommandError, match="--create-endpoint") as caught:
        call_command("import_case", path)
    assert caught.value.returncode == 2
    assert not Case.objects.exists()
    call_command("import_case", path, "--without-attempt")
    assert not Endpoint.objects.exists()
    assert Rating.objects.count() == 2


def test_import_case_dry_run_creates_nothing(owner, path, capsys):
    call_command("import_case", path, "--dry-run")
    assert "Would create Shop: phones with 2 queries" in capsys.readouterr().out
    assert not Case.objects.exists()


def test_export_case_for_quepid_says_what_it_leaves_out(owner, tmp_path, capsys):
    given = tmp_path / "given.json"
    given.write_text(json.dumps(CASE))
    call_command("import_case", str(given), "--without-attempt")
    case = Case.objects.get()
    capsys.readouterr()
    call_command("export_case", str(case.pk), "--format", "quepid")
    written = capsys.readouterr()
    content = json.loads(written.out)
    assert content["queries"][1]["query_text"] == "star wars"
    assert written.err.splitlines() == content["left_out"]
    given.write_text(written.out)
    call_command("import_case", str(given))
    assert Case.objects.count() == 2


def test_import_case_refuses_a_query_that_is_no_object(owner, tmp_path):
    (tmp_path / "case.json").write_text('{"case_name": "x", "queries": [3]}')
    with pytest.raises(CommandError) as caught:
        call_command("import_case", str(tmp_path / "case.json"))
    assert caught.value.returncode == 2
    assert not Case.objects.exists()


def test_a_book_of_quepid_is_imported_and_exported(owner, tmp_path, capsys):
    path = tmp_path / "book_export_7.json.zip"
    path.write_bytes(zipped(BOOK).getvalue())
    call_command("import_book", str(path), "--dry-run")
    assert "Would create Phones with 3 queries and 6 ratings of 4 raters" in capsys.readouterr().out
    assert not Book.objects.exists()
    call_command("import_book", str(path), "--name", "Mine")
    book = Book.objects.get()
    assert (book.name, book.owner) == ("Mine", owner)
    assert f"Book {book.pk} Mine created with 3 queries" in capsys.readouterr().out
    call_command("export_book", str(book.pk), "--format", "quepid")
    written = capsys.readouterr()
    assert written.err.splitlines() == json.loads(written.out)["left_out"]
