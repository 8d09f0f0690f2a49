"""Tokens of programs: what is stored, when they stop, what they allow."""

from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from relevancy.accounts import api_tokens
from relevancy.models import ApiToken, User
from tests.factories import make_user

Scope = ApiToken.Scope
pytestmark = pytest.mark.django_db


@pytest.fixture
def ann() -> User:
    return make_user("ann")


def test_create_stores_no_secret(ann: User) -> None:
    token, text = api_tokens.create(user=ann, name=" nightly  job ", scope=Scope.READ, days=30)
    token.refresh_from_db()
    assert token.name == "nightly job"
    assert text.startswith(f"rlv_{token.prefix}_")
    secret = text.rpartition(f"{token.prefix}_")[2]
    assert len(secret) == 43
    assert not any(secret in str(value) for value in vars(token).values())
    assert timedelta(days=29) < token.expires_at - timezone.now() <= timedelta(days=30)


def test_find_returns_the_token_of_exactly_this_text(ann: User) -> None:
    token, text = api_tokens.create(user=ann, name="job", scope=Scope.READ, days=None)
    other, _ = api_tokens.create(user=ann, name="other", scope=Scope.READ, days=None)
    result = api_tokens.find(text)
    assert result == token
    assert result is not None and result.user == ann
    wrong = ["", "x", text + "x", text[:-1], text[:-1] + "!", text.replace(token.prefix, other.prefix), f" {text}"]
    assert [api_tokens.find(item) for item in wrong] == [None] * len(wrong)


def test_find_takes_one_statement(ann: User, django_assert_num_queries) -> None:
    _, text = api_tokens.create(user=ann, name="job", scope=Scope.READ, days=None)
    with django_assert_num_queries(1):
        result = api_tokens.find(text)
        assert result is not None
        assert result.user.email == ann.email
    with django_assert_num_queries(0):
        assert api_tokens.find("no token") is None


def test_token_stops_when_it_expires(ann: User) -> None:
    token, text = api_tokens.create(user=ann, name="job", scope=Scope.READ, days=1)
    ApiToken.objects.filter(pk=token.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert api_tokens.find(text) is None


def test_token_stops_when_it_is_revoked(ann: User) -> None:
    token, text = api_tokens.create(user=ann, name="job", scope=Scope.READ, days=None)
    api_tokens.revoke(token=token)
    assert api_tokens.find(text) is None
    assert ApiToken.objects.get().revoked_at is not None


def test_token_stops_when_its_user_is_deactivated(ann: User) -> None:
    _, text = api_tokens.create(user=ann, name="job", scope=Scope.WRITE, days=None)
    User.objects.filter(pk=ann.pk).update(is_active=False)
    assert api_tokens.find(text) is None


@pytest.mark.parametrize(
    ("scope", "allowed"),
    [(Scope.READ, [Scope.READ]), (Scope.RATE, [Scope.READ, Scope.RATE]), (Scope.WRITE, list(Scope))],
)
def test_scope_includes_those_before_it(scope: ApiToken.Scope, allowed: list[ApiToken.Scope]) -> None:
    assert [item for item in Scope if ApiToken(scope=scope).allows(item)] == allowed


def test_record_use_writes_once_in_ten_minutes(ann: User, django_assert_num_queries) -> None:
    token, _ = api_tokens.create(user=ann, name="job", scope=Scope.READ, days=None)
    api_tokens.record_use(token)
    token = ApiToken.objects.get()
    assert token.last_used_at is not None
    with django_assert_num_queries(0):
        api_tokens.record_use(token)
    token.last_used_at -= timedelta(minutes=11)
    token.save()
    api_tokens.record_use(token)
    assert timezone.now() - ApiToken.objects.get().last_used_at < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("changes", "field"),
    [({"name": ""}, "name"), ({"name": "a\x00b"}, "name"), ({"name": "n" * 121}, "name"), ({"days": 0}, "days")],
)
def test_create_names_the_invalid_field(ann: User, changes, field) -> None:
    with pytest.raises(ValidationError) as caught:
        api_tokens.create(**{"user": ann, "name": "job", "scope": Scope.READ, "days": 30, **changes})
    assert field in caught.value.message_dict
    assert not ApiToken.objects.exists()


def test_create_limits_the_number_of_valid_tokens(ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_tokens, "MAX_VALID", 1)
    token, _ = api_tokens.create(user=ann, name="one", scope=Scope.READ, days=1)
    with pytest.raises(ValidationError, match="1 valid tokens"):
        api_tokens.create(user=ann, name="two", scope=Scope.READ, days=1)
    api_tokens.revoke(token=token)
    assert api_tokens.create(user=ann, name="two", scope=Scope.READ, days=1)
