"""A site can leave the app out: without its pages, and without being blocked by its rows."""

import json
from pathlib import Path

import pytest

from tests.processes import empty_site

MAKE_OUTCOME = """
from tests.comparison.conftest import run_with
from tests.factories import ScriptedEngine
from relevancy.engines import registry
from relevancy.optional.outcomes import outcomes
from relevancy.optional.outcomes.models import OnlineOutcome
registry.BUILT_IN = (*registry.BUILT_IN, ScriptedEngine)
registry.available.cache_clear()
case = make_case(["q1"])
a, b = (run_with(case, {"q1": documents}) for documents in ("ab", "ba"))
counts = {"method": "interleaving", "wins_a": 6, "wins_b": 18, "ties": 4}
outcomes.store_outcome(outcome=OnlineOutcome(case=case, run_a=a, run_b=b, name="May", **counts), by=case.owner)
print(json.dumps(case.pk))
"""
OPEN_PAGES = """
from django.conf import settings
from django.test import Client
settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"  # none are collected
from relevancy.models import Case, User
case = Case.objects.get()
client = Client(SERVER_NAME="localhost")
client.force_login(case.owner)
pages = [f"/cases/{case.pk}/compare/?run=1&run=2", f"/cases/{case.pk}/online/"]
answers = [client.get(page) for page in pages]
print(json.dumps([[answer.status_code, b"/online/" in answer.content] for answer in answers]))
"""
DELETE_CASE = """
from django.db import IntegrityError
from relevancy.models import Case
case = Case.objects.get()
try:
    cases.delete(case=case, by=case.owner)
except IntegrityError as error:
    print(json.dumps("refused"))
else:
    print(json.dumps("deleted"))
"""


@pytest.mark.own_database
@pytest.mark.django_db
def test_a_site_without_the_app_is_told_of_its_rows_and_can_drop_them(tmp_path: Path) -> None:
    with empty_site(tmp_path) as site:
        assert site.run("migrate", "--verbosity", "0").returncode == 0
        site.ask(MAKE_OUTCOME)
        assert site.ask(OPEN_PAGES) == [[200, True], [200, True]]
        output = tmp_path / "outcomes.jsonl"
        refused = site.run("remove_app", "outcomes", "--output", str(output))
        assert refused.returncode == 2 and "part of this site" in refused.stderr
        site.environment["RELEVANCY_WITHOUT"] = "outcomes"
        started = site.run("migrate")
        assert "outcomes_onlineoutcome" in started.stderr and "remove_app outcomes" in started.stderr
        assert site.ask(OPEN_PAGES) == [[200, False], [404, False]]
        assert site.ask(DELETE_CASE) == "refused"
        removed = site.run("remove_app", "outcomes", "--output", str(output))
        assert removed.stdout.startswith("1 rows of outcomes_onlineoutcome written"), removed.stderr
        assert json.loads(output.read_text())["row"]["wins_b"] == 18
        assert "remove_app" not in site.run("migrate").stderr
        assert site.run("remove_app", "outcomes", "--output", "new.jsonl").returncode == 2
        assert site.ask(DELETE_CASE) == "deleted"
        del site.environment["RELEVANCY_WITHOUT"]
        assert "Applying outcomes.0001_initial" in site.run("migrate").stdout
