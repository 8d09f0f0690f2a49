"""A site that leaves out groups has to leave out what needs them."""

from pathlib import Path

import pytest

from tests.processes import empty_site

OPEN_HOME = """
from django.conf import settings
from django.test import Client
settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"  # none are collected
client = Client(SERVER_NAME="localhost")
client.force_login(make_user())
answer = client.get("/")
print(json.dumps([answer.status_code, b"/groups/" in answer.content]))
"""


@pytest.mark.own_database
@pytest.mark.django_db
def test_a_site_without_groups_but_with_schedules_does_not_start(tmp_path: Path) -> None:
    with empty_site(tmp_path) as site:
        site.environment["RELEVANCY_WITHOUT"] = "groups"
        refused = site.run("migrate", "--verbosity", "0")
        assert refused.returncode != 0
        assert "RELEVANCY_WITHOUT leaves out groups, which schedules needs. Leave out schedules, too." in refused.stderr
        site.environment["RELEVANCY_WITHOUT"] = "groups schedules"
        assert site.run("migrate", "--verbosity", "0").returncode == 0
        assert site.ask(OPEN_HOME) == [200, False]
