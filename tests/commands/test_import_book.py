"""The command `import_book`."""

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from relevancy.models import Book
from tests.factories import make_user
from tests.formats.relevancy_files import BOOK, zipped

pytestmark = pytest.mark.django_db


def test_import_book_and_dry_run(tmp_path, capsys):
    owner = make_user("Root", superuser=True)
    path = tmp_path / "book_export_7.json.zip"
    path.write_bytes(zipped(BOOK).getvalue())
    call_command("import_book", str(path), "--dry-run")
    assert "Would create Shop: phones with 2 queries and 3 ratings of 2 raters" in capsys.readouterr().out
    assert not Book.objects.exists()
    call_command("import_book", str(path), "--name", "Mine")
    book = Book.objects.get()
    assert (book.name, book.owner) == ("Mine", owner)
    assert f"Book {book.pk} Mine created with 2 queries" in capsys.readouterr().out


def test_import_book_refuses_other_files(tmp_path):
    make_user("Root", superuser=True)
    (tmp_path / "x.json").write_text("[]")
    with pytest.raises(CommandError) as caught:
        call_command("import_book", str(tmp_path / "x.json"))
    assert caught.value.returncode == 2
