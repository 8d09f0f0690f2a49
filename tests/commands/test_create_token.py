"""`create_token`: a token for a pipeline, without a browser."""

from datetime import timedelta

import pytest
from django.utils import timezone

from relevancy.accounts import api_tokens
from relevancy.models import ApiToken
from tests.factories import make_user

from .test_commands import command, refused

pytestmark = pytest.mark.django_db


def test_a_token_is_printed_once_and_works() -> None:
    ann = make_user("ann")
    text = command(
        "create_token", "--user", "ann@example.com", "--scope", "write", "--days", "7", "--name", "CI"
    ).strip()
    token = api_tokens.find(text)
    assert token is not None
    assert (token.user, token.scope, token.name) == (ann, "write", "CI")
    assert timedelta(days=6) < token.expires_at - timezone.now() <= timedelta(days=7)


def test_a_token_may_only_read_unless_told_otherwise() -> None:
    make_user("ann")
    token = api_tokens.find(command("create_token", "--user", "ann@example.com").strip())
    assert token is not None and token.scope == ApiToken.Scope.READ


def test_mistakes_create_no_token() -> None:
    make_user("ann", is_active=False)
    make_user("bea")
    assert "No user has the email address" in refused("create_token", "--user", "nobody@example.com")
    assert "deactivated" in refused("create_token", "--user", "ann@example.com")
    assert "cannot be valid for 0 days" in refused("create_token", "--user", "bea@example.com", "--days", "0")
    assert not ApiToken.objects.exists()
