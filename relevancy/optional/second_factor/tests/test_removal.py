"""A site that leaves the app out does not sign anyone in with the password alone, until an admin has removed what it stored."""

from pathlib import Path

import pytest

from tests.processes import empty_site

TURN_ON = """
import pyotp
from relevancy.models import User
from relevancy.optional.second_factor import second_factor
user = User.objects.create_user("ann@example.org", "correct horse 12")
authenticator = second_factor.begin(user=user)
print(json.dumps(len(second_factor.confirm(user=user, code=pyotp.TOTP(authenticator.secret["key"]).now()))))
"""
SIGN_IN = """
from django.conf import settings
from django.test import Client
settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"  # none are collected
client = Client(SERVER_NAME="localhost")
answer = client.post("/login/", {"username": "ann@example.org", "password": "correct horse 12"})
says = "remove_app second_factor" in answer.content.decode()
print(json.dumps([answer.status_code, "_auth_user_id" in client.session, says]))
"""


@pytest.mark.own_database
@pytest.mark.django_db
def test_accounts_with_a_second_factor_are_refused_until_it_is_removed(tmp_path: Path) -> None:
    with empty_site(tmp_path) as site:
        assert site.run("migrate", "--verbosity", "0").returncode == 0
        assert site.ask(TURN_ON) == 10
        assert site.ask(SIGN_IN) == [302, False, False]  # to the page for the code
        site.environment["RELEVANCY_WITHOUT"] = "second_factor"
        assert site.ask(SIGN_IN) == [200, False, True]
        removed = site.run("remove_app", "second_factor", "--output", str(tmp_path / "rows.jsonl"))
        assert "Accounts that sign in with their passwords alone from now on: 1." in removed.stdout, removed.stderr
        assert site.ask(SIGN_IN) == [302, True, False]
