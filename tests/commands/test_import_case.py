"""The command `import_case`."""

import json
from itertools import pairwise

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from relevancy.models import Book, Case
from tests.factories import make_endpoint, make_user
from tests.formats import relevancy_files

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner():
    return make_user("Root", superuser=True)


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"format": "relevancy/1", "kind": "case", "queries": [3]}', "query,docid,rating\n"]
)
def test_import_case_refuses_other_files(owner, tmp_path, content):
    (tmp_path / "case.json").write_text(content)
    with pytest.raises(CommandError) as caught:
        call_command("import_case", str(tmp_path / "case.json"))
    assert caught.value.returncode == 2
    assert not Case.objects.exists()


def test_export_case_writes_what_import_case_reads(owner, tmp_path, script, capsys):
    endpoint = make_endpoint(owner)
    files = [tmp_path / name for name in ("given.json", "first.json", "second.json")]
    files[0].write_text(json.dumps(relevancy_files.CASE))
    for source, target in pairwise(files):
        call_command("import_case", str(source), "--endpoint", endpoint.name)
        case = Case.objects.order_by("-pk").first()
        assert case.runs.get().query_scores.exists()
        call_command("export_case", str(case.pk), "--output", str(target))
    assert files[1].read_bytes() == files[2].read_bytes()
    capsys.readouterr()
    call_command("export_case", str(case.pk))
    assert capsys.readouterr().out == files[2].read_text()


def test_export_book_writes_what_import_book_reads(owner, tmp_path):
    files = [tmp_path / name for name in ("given.json", "first.json", "second.json")]
    files[0].write_text(json.dumps(relevancy_files.BOOK))
    for source, target in pairwise(files):
        call_command("import_book", str(source))
        call_command("export_book", str(Book.objects.order_by("-pk").first().pk), "--output", str(target))
    assert files[1].read_bytes() == files[2].read_bytes()
    assert len(Book.objects.all()) == 2
