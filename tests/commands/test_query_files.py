"""`import_queries` and `export_queries`."""

import io

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from relevancy.formats import exports
from relevancy.models import Activity, Book, Case
from tests.factories import make_case

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]
TEXT = "query,information_need,notes,tags,options,weight\nalien,The film,,scifi,,2\n"


def call(*arguments):
    out, err = io.StringIO(), io.StringIO()
    call_command(*arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "queries.csv"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_queries_are_imported_and_exported(path):
    case = make_case([])
    assert "1 query added" in call("import_queries", str(case.pk), str(path), "--dry-run")[0]
    assert not case.case_queries.exists()
    call("import_queries", case.name, str(path))
    assert call("export_queries", str(case.pk))[0] == TEXT
    assert call("export_queries", str(case.pk), "--format", "information-needs")[0].endswith("\nalien,The film\n")
    call("export_queries", str(case.pk), "--output", str(path))
    assert path.read_text(encoding="utf-8") == TEXT


def test_wrong_lines_are_named_and_nothing_is_stored(path):
    case = make_case([])
    path.write_text(TEXT + "b,,,,,x\nc,,,,,y\n", encoding="utf-8")
    for options in ((), ("--dry-run",)):
        err = io.StringIO()
        with pytest.raises(CommandError) as caught:
            call_command("import_queries", str(case.pk), str(path), *options, stderr=err)
        assert caught.value.returncode == 2
        assert [line[:7] for line in err.getvalue().splitlines()] == ["Line 3:", "Line 4:"]
    assert not case.case_queries.exists()


def test_the_format_can_be_chosen(path):
    case = make_case([])
    path.write_text("1 0 a 3\n2 0 b 3\n", encoding="utf-8")
    with pytest.raises(CommandError, match="choose the format"):
        call("import_queries", str(case.pk), str(path))
    call("import_queries", str(case.pk), str(path), "--format", "queries")
    assert case.case_queries.count() == 2


def test_results_and_the_ratings_of_a_book_are_exported_as_by_the_page():
    case = make_case(1, {"query 1": {"a": 3}})
    results = {name: file for name, file in exports.files_of(Case).items() if file.group == exports.RESULTS}
    assert "snapshots" in results
    for name, export in results.items():
        with export.open(case, case.owner) as file:
            assert call("export_case", str(case.pk), "--format", name)[0] == file.read().decode()
    with exports.files_of(Book)["ratings"].open(case.book, case.owner) as file:
        assert call("export_book", str(case.book_id), "--format", "ratings")[0] == file.read().decode()


def test_files_that_leave_by_a_command_are_in_the_activity_log():
    case = make_case(1, {"query 1": {"a": 3}})
    call("export_case", str(case.pk), "--format", "snapshots")
    call("export_book", str(case.book_id), "--format", "ratings")
    exported = Activity.objects.filter(verb=Activity.Verb.FILE_EXPORTED)
    assert {entry.case_id for entry in exported} == {case.pk}
    assert exported.count() == 2
