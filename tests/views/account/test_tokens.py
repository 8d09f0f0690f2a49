"""The page of API tokens: a token is shown once, and stops when it is revoked."""

import re

from django.urls import reverse

from relevancy.accounts import api_tokens
from relevancy.models import ApiToken

NEW = {"name": "nightly job", "scope": "rate", "days": "7"}


def test_token_is_shown_once(sign_in, people):
    client = sign_in("rater")
    response = client.post(reverse("account_tokens"), NEW)
    (text,) = re.findall(r"rlv_[a-z0-9]{8}_[\w-]{43}", response.content.decode())
    assert "no-store" in response.headers["Cache-Control"]
    token = api_tokens.find(text)
    assert token is not None
    assert (token.user, token.name, token.scope) == (people["rater"], "nightly job", "rate")
    page = client.get(reverse("account_tokens")).content.decode()
    assert f'data-token="{token.pk}"' in page
    assert text not in page


def test_invalid_form_creates_nothing(sign_in):
    client = sign_in("rater")
    assert client.post(reverse("account_tokens"), {**NEW, "name": " "}).status_code == 422
    assert client.post(reverse("account_tokens"), {**NEW, "scope": "all"}).status_code == 422
    assert client.post(reverse("account_tokens"), {**NEW, "days": "-1"}).status_code == 422
    assert not ApiToken.objects.exists()


def test_too_many_tokens_are_an_error_of_the_form(sign_in, monkeypatch):
    monkeypatch.setattr(api_tokens, "MAX_VALID", 0)
    response = sign_in("rater").post(reverse("account_tokens"), NEW)
    assert response.status_code == 422
    assert "Revoke one first." in response.content.decode()


def test_revoke(sign_in, people):
    token, text = api_tokens.create(user=people["rater"], name="job", scope=ApiToken.Scope.READ, days=None)
    client = sign_in("rater")
    assert client.post(reverse("account_token_revoke", args=[token.pk])).status_code == 302
    assert api_tokens.find(text) is None
    page = client.get(reverse("account_tokens")).content.decode()
    assert reverse("account_token_revoke", args=[token.pk]) not in page


def test_tokens_of_others_are_not_listed(sign_in, people):
    token, _ = api_tokens.create(user=people["owner"], name="secret job", scope=ApiToken.Scope.READ, days=None)
    assert f'data-token="{token.pk}"' not in sign_in("admin").get(reverse("account_tokens")).content.decode()
