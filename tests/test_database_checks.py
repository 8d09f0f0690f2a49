"""A database of an earlier checkout is moved by exporting and importing its cases."""

import gzip
import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from relevancy import database_checks
from relevancy.models import Case, Rating
from tests.factories import make_endpoint, make_user

# `export_case Movies` of the sample, by the last version with the migrations 1 to 48.
EXPORTED = Path(__file__).parent / "files" / "sample_case_before_new_migrations.json.gz"


@pytest.mark.django_db
def test_a_case_that_an_earlier_checkout_exported_is_imported_whole(tmp_path: Path) -> None:
    file, again = tmp_path / "case.json", tmp_path / "again.json"
    file.write_bytes(gzip.decompress(EXPORTED.read_bytes()))
    endpoint = make_endpoint(make_user(superuser=True), engine="embedded", url="films")
    call_command("import_case", str(file), endpoint=endpoint.name, verbosity=0)
    case = Case.objects.get()
    assert (case.name, case.case_queries.count(), case.attempts.count()) == ("Movies", 45, 3)
    assert Rating.objects.filter(query__book=case.book).count() == 623
    call_command("export_case", str(case.pk), output=str(again), verbosity=0)
    before, after = (json.loads(path.read_text()) for path in (file, again))
    for part in ("queries", "scorers"):
        assert after[part] == before[part]


@pytest.mark.django_db
def test_a_database_of_another_version_is_refused() -> None:
    assert database_checks.check_unknown_migrations(["default"]) == []
    MigrationRecorder(connection).record_applied("relevancy", "0002_default_scorers")
    with pytest.raises(SystemCheckError, match=r"relevancy\.0002_default_scorers.*\n.*export_case"):
        call_command("migrate", skip_checks=False, verbosity=0)


@pytest.mark.django_db
def test_a_database_whose_initial_migration_had_other_columns_is_refused() -> None:
    assert database_checks.check_columns(["default"]) == []
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE relevancy_book RENAME COLUMN raters_are_blind TO former")
    with pytest.raises(SystemCheckError, match=r"relevancy_book has no column raters_are_blind.*\n.*export_case"):
        call_command("migrate", skip_checks=False, verbosity=0)
