"""`features CASE`."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from relevancy.models import Case
from tests.factories import make_user

from .conftest import TEXT

pytestmark = pytest.mark.django_db


def features(*arguments: object) -> str:
    out = io.StringIO()
    call_command("features", *map(str, arguments), stdout=out, stderr=io.StringIO())
    return out.getvalue()


def test_features_are_saved_logged_and_written(case: Case, tmp_path: Path) -> None:
    make_user("root", superuser=True)
    with pytest.raises(CommandError, match="no feature set"):
        features(case.pk)
    file = tmp_path / "features.txt"
    file.write_text(TEXT)
    assert "not logged yet" in features(case.pk, "--set", file)
    with pytest.raises(CommandError, match="has not been logged"):
        features(case.pk, "--csv", "-")
    assert "complete, 2 of 2 queries logged" in features(case.pk, "--log")
    assert features(case.pk, "--ranklib", "-").count("\n") == 4
    features(case.pk, "--manifest", tmp_path / "manifest.json", "--csv", tmp_path / "values.csv")
    assert json.loads((tmp_path / "manifest.json").read_text())["rated"] == 4
    assert (tmp_path / "values.csv").read_text().count("\n") == 5
