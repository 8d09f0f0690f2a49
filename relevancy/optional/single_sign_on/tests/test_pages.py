"""Signing in with an OpenID Connect provider: who is signed in, what is refused, and connecting accounts."""

import time

import pytest
from django.contrib.messages import get_messages
from django.core.management import call_command
from django.shortcuts import redirect
from django.test import Client
from django.urls import reverse
from joserfc.jwk import ECKey

from relevancy import accounts, teams
from relevancy.hooks import Proof, proofs
from relevancy.models import Invitation, RequiredProof, Role, Team, User
from relevancy.optional.single_sign_on import openid_connect
from relevancy.optional.single_sign_on.models import ExternalAccount

from .openid_provider import CLIENT_ID, SECRET, Provider, serve

VERIFIED = {"email": "Nora@Example.org", "email_verified": True, "name": "Nora N."}
PASSWORD = "correct horse 12"


@pytest.fixture
def provider(settings, db):
    with serve() as provider:
        settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = provider.url, CLIENT_ID, SECRET
        settings.OIDC_NAME, settings.OIDC_DOMAINS = "Example account", ["example.org"]
        openid_connect.forget()
        yield provider
    openid_connect.forget()


def sign_in_with(provider: Provider, *, answer=None, **claims):
    """The whole way: the link of the sign-in page, the provider, and back. Returns the client and the last response."""
    client = Client()
    provider.claims = claims
    to_provider = client.get(reverse("openid_login"), {"next": "/books/"})
    assert to_provider.status_code == 302
    parameters = provider.sign_in(to_provider.headers["Location"])
    return client, client.get(reverse("openid_answer"), parameters | (answer or {}))


def user_of(client):
    pk = client.session.get("_auth_user_id")
    return None if pk is None else User.objects.get(pk=pk)


def message(response):
    return " ".join(str(item) for item in get_messages(response.wsgi_request))


def test_new_user_of_an_allowed_domain(provider):
    assert "Sign in with Example account" in " ".join(Client().get(reverse("login")).content.decode().split())
    client, response = sign_in_with(provider, **VERIFIED)
    assert response.headers["Location"] == "/books/"
    user = user_of(client)
    assert (user.email, user.name, user.has_confirmed_email) == ("nora@example.org", "Nora N.", True)
    assert not user.has_usable_password()
    assert len(accounts.sessions.current(user)) == 1
    again, _ = sign_in_with(provider, email="other@elsewhere.net", email_verified=True)
    assert user_of(again) == user  # by its subject, whatever the address is now
    assert ExternalAccount.objects.get().email == "other@elsewhere.net"


def test_address_from_the_userinfo_endpoint(provider):
    provider.user_info = {"sub": "7", **VERIFIED}
    client, _ = sign_in_with(provider)
    assert user_of(client).email == "nora@example.org"
    provider.user_info = {"sub": "another", **VERIFIED}
    client, response = sign_in_with(provider, sub="8")
    assert user_of(client) is None
    assert "failed" in message(response)


def test_secret_in_the_form_where_the_provider_wants_it_there(provider):
    provider.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    client, _ = sign_in_with(provider, **VERIFIED)
    assert user_of(client) is not None


@pytest.mark.parametrize(
    "claims",
    [
        {"email": "nora@elsewhere.net", "email_verified": True},
        {"email": "nora@example.org", "email_verified": False},
        {"email": "nora@example.org"},
        {"email": "not an address", "email_verified": True},
        {},
    ],
    ids=str,
)
def test_nobody_else_gets_an_account(provider, claims):
    provider.user_info = {"sub": "7"}
    client, response = sign_in_with(provider, **claims)
    assert response.headers["Location"] == reverse("login")
    assert "account" in message(response)
    assert not User.objects.exists()
    assert user_of(client) is None


def test_invited_address_gets_an_account(provider, people):
    team = Team.objects.get(name="Search")
    Invitation.objects.create(team=team, email="guest@elsewhere.net", role=Role.RATER, created_by=people["owner"])
    client, _ = sign_in_with(provider, email="guest@elsewhere.net", email_verified=True)
    assert user_of(client).email == "guest@elsewhere.net"


def test_verified_address_of_an_account_signs_it_in(provider, people):
    client, _ = sign_in_with(provider, email=people["rater"].email.upper(), email_verified=True)
    assert user_of(client) == people["rater"]


@pytest.mark.parametrize(("is_verified", "is_confirmed"), [(False, True), (True, False)])
def test_unproven_address_does_not(provider, people, is_verified, is_confirmed):
    User.objects.filter(pk=people["rater"].pk).update(has_confirmed_email=is_confirmed)
    client, response = sign_in_with(provider, email=people["rater"].email, email_verified=is_verified)
    assert user_of(client) is None
    assert "connect" in message(response)


def test_inactive_user(provider, people):
    User.objects.filter(pk=people["rater"].pk).update(is_active=False)
    client, response = sign_in_with(provider, email=people["rater"].email, email_verified=True)
    assert user_of(client) is None
    assert "switched off" in message(response)
    assert not ExternalAccount.objects.exists()


def test_what_the_account_needs_besides_the_password_is_still_asked_for(provider, people, monkeypatch):
    proof = Proof(ask=lambda request, user, next_url: redirect(f"/more/?next={next_url}"), field=None, check=None)
    monkeypatch.setitem(proofs, "an_app", proof)
    RequiredProof.objects.create(user=people["rater"], app="an_app")
    client, response = sign_in_with(provider, email=people["rater"].email, email_verified=True)
    assert response.headers["Location"] == "/more/?next=/books/"
    assert user_of(client) is None


def test_an_account_that_needs_more_than_this_site_asks_for_is_refused(provider, people):
    RequiredProof.objects.create(user=people["rater"], app="an_app")
    client, response = sign_in_with(provider, email=people["rater"].email, email_verified=True)
    assert response.headers["Location"] == reverse("login")
    assert "relevancy remove_app an_app" in message(response)
    assert user_of(client) is None


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "another application"},
        {"aud": [CLIENT_ID, "another"], "azp": "another"},
        {"iss": "http://127.0.0.1:1"},
        {"nonce": "of another request"},
        {"nonce": None},
        {"exp": 1},
        {"exp": None},
        {"iat": 4_000_000_000},
        {"sub": None},
        {"sub": ""},
        {"sub": "x" * 256},
        {"sub": ["7"]},
    ],
    ids=str,
)
def test_invalid_token(provider, claims, caplog):
    client, response = sign_in_with(provider, **(VERIFIED | claims))
    assert user_of(client) is None
    assert "an admin finds the reason in the log" in message(response)
    assert "Signing in with" in caplog.text
    assert not User.objects.exists()


@pytest.mark.parametrize("has_same_id", [False, True])
def test_token_signed_with_another_key(provider, has_same_id):
    parameters = {"kid": provider.key.kid} if has_same_id else {"kid": "another"}
    provider.signs_with = ECKey.generate_key("P-256", parameters)
    client, _ = sign_in_with(provider, **VERIFIED)
    assert user_of(client) is None


def test_provider_that_changed_its_keys(provider):
    sign_in_with(provider, **VERIFIED)
    provider.key = ECKey.generate_key("P-256", auto_kid=True)
    client, _ = sign_in_with(provider, **VERIFIED)
    assert user_of(client) is not None
    requests_before = len(provider.requests)
    sign_in_with(provider, **VERIFIED)
    assert len(provider.requests) == requests_before + 1  # addresses and keys are kept; only the code is exchanged


@pytest.mark.parametrize(
    "answer",
    [
        {"state": "of another browser"},
        {"state": ""},
        {"error": "access_denied"},
        {"iss": "http://127.0.0.1:1"},
        {"code": "no"},
    ],
    ids=str,
)
def test_answer_that_does_not_fit(provider, answer):
    client, response = sign_in_with(provider, answer=answer, **VERIFIED)
    assert user_of(client) is None
    assert "failed" in message(response)


def test_answer_is_accepted_for_ten_minutes(provider, monkeypatch):
    client = Client()
    provider.claims = VERIFIED
    parameters = provider.sign_in(client.get(reverse("openid_login")).headers["Location"])
    session = client.session
    session["openid"] = session["openid"] | {"at": time.time() - 601}
    session.save()
    assert "failed" in message(client.get(reverse("openid_answer"), parameters))
    assert user_of(client) is None
    assert "failed" in message(client.get(reverse("openid_answer"), parameters))  # and only once
    assert "failed" in message(Client().get(reverse("openid_answer")))


def test_other_sites_are_no_targets(provider):
    client = Client()
    provider.claims = VERIFIED
    to_provider = client.get(reverse("openid_login"), {"next": "https://evil.example/"})
    response = client.get(reverse("openid_answer"), provider.sign_in(to_provider.headers["Location"]))
    assert response.headers["Location"] == "/"


def test_provider_that_is_down_or_another_one(provider):
    provider.is_down = True
    response = Client().get(reverse("openid_login"))
    assert response.headers["Location"] == reverse("login")
    assert provider.url not in message(response)
    provider.is_down = False
    provider.metadata = {"issuer": "https://other.example"}
    assert "failed" in message(Client().get(reverse("openid_login")))


def test_connecting_and_disconnecting(provider, people):
    people["rater"].set_password(PASSWORD)
    people["rater"].save()
    client, editor, url = Client(), Client(), reverse("account_external")
    client.force_login(people["rater"])
    editor.force_login(people["editor"])
    assert "Continue to" not in client.get(url).content.decode()
    page = client.post(url)
    provider.claims = {"email": "someone@elsewhere.net"}
    response = client.get(reverse("openid_answer"), provider.sign_in(page.context["address"]))
    assert response.headers["Location"] == url
    external = ExternalAccount.objects.get(user=people["rater"])
    assert "someone@elsewhere.net" in client.get(url).content.decode()
    other, _ = sign_in_with(provider, email="someone@elsewhere.net")
    assert user_of(other) == people["rater"]
    page = editor.post(url)
    response = editor.get(reverse("openid_answer"), provider.sign_in(page.context["address"]))
    assert "another user" in message(response)
    disconnect = reverse("account_external_disconnect", args=[external.pk])
    assert editor.post(disconnect).status_code == 404
    client.post(disconnect)
    assert not ExternalAccount.objects.exists()


def test_the_last_way_to_sign_in_stays(provider):
    client, _ = sign_in_with(provider, **VERIFIED)
    external = ExternalAccount.objects.get()
    response = client.post(reverse("account_external_disconnect", args=[external.pk]))
    assert "Choose a password first" in message(response)
    assert ExternalAccount.objects.exists()


@pytest.mark.parametrize("end", ["delete", "revoke", "claim", "keep"])
def test_connections_end_with_the_account_and_with_a_new_password_if_asked(sign_in, people, end):
    user = people["rater"]
    ExternalAccount.objects.create(user=user, issuer="https://id.example.org", subject="1", email="other@example.org")
    if end == "delete":
        assert "other@example.org" in sign_in("rater").get(reverse("account_delete")).content.decode()
        accounts.deletion.delete(user=user)
    else:
        user.has_confirmed_email = end != "claim"
        accounts.passwords.password_was_set(user=user, by_message=True, revoke=end == "revoke")
    assert ExternalAccount.objects.exists() == (end == "keep")


def test_site_without_a_provider(sign_in):
    client = sign_in("rater")
    assert "Single sign-on" not in client.get(reverse("account")).content.decode()
    assert client.get(reverse("account_external")).status_code == 404
    assert Client().get(reverse("openid_login")).status_code == 404


PASSWORD_PAGES = ("password_change", "password_reset")


def test_with_the_provider_alone_no_page_takes_a_password(provider, people, settings):
    """Nor does the sign-in page of the administration site. Sessions and API tokens go on."""
    user = people["rater"]
    user.set_password(PASSWORD)
    user.save()
    _, secret = accounts.api_tokens.create(user=user, name="job", scope="read", days=1)
    settings.PASSWORD_SIGN_IN = False
    for name in ("login", "admin_login"):
        page = Client().get(reverse(name)).content.decode()
        assert 'id="sign-in-provider"' in page
        assert 'type="password"' not in page
        assert reverse("password_reset") not in page
        refused = Client().post(reverse(name), {"username": user.email, "password": PASSWORD})
        assert (refused.status_code, user_of(refused.client)) == (403, None)
    assert Client().post(reverse("password_reset"), {"email": user.email}).status_code == 404
    link = accounts.passwords.reset_path(user)
    assert Client().get(link).status_code == 404

    client, _ = sign_in_with(provider, email=user.email, email_verified=True)
    assert user_of(client) == user
    assert [client.get(reverse(name)).status_code for name in PASSWORD_PAGES] == [404, 404]
    assert reverse("password_change") not in client.get(reverse("account")).content.decode()
    answer = Client().get("/api/v1/me", headers={"Authorization": f"Bearer {secret}"})
    assert answer.json()["email"] == user.email

    only = user.external_accounts.get()
    client.post(reverse("account_external_disconnect", args=[only.pk]))
    assert user.external_accounts.count() == 1
    page = client.get(reverse("account_delete")).content.decode()
    assert 'name="email"' in page
    assert 'name="password"' not in page


def test_the_first_admin_is_created_without_a_password(provider, settings):
    settings.PASSWORD_SIGN_IN = False
    call_command("createsuperuser", "--noinput", email="ann@example.net", verbosity=0)
    assert not User.objects.get().has_usable_password()
    client, _ = sign_in_with(provider, email="ann@example.net", email_verified=True)
    assert user_of(client).is_superuser
    assert client.get("/admin/").status_code == 200


def test_invitations_create_no_account_with_a_password(provider, people, settings):
    settings.PASSWORD_SIGN_IN = False
    team = Team.objects.get(name="Search")
    invitation = teams.invitations.invite(team=team, role=Role.RATER, by=people["owner"], uses=3)
    token = invitation.token
    page = Client().get(reverse("invitation", args=[token])).content.decode()
    assert 'id="sign-up"' not in page
    assert "Sign in with Example account" in page
    fields = {"email": "new@example.org", "name": "New", "password": PASSWORD}
    assert Client().post(reverse("invitation_sign_up", args=[token]), fields).status_code == 403
    assert not User.objects.filter(email="new@example.org").exists()


@pytest.mark.parametrize("address", ["adm\u0131n@corp.example", "bo\u017fs@corp.example", "mi\u212ae@corp.example"])
def test_address_that_looks_like_another_one(provider, settings, address):
    settings.OIDC_DOMAINS = ["*"]
    for name in ("admin", "boss", "mike"):
        User.objects.create_user(f"{name}@corp.example", PASSWORD)
    client, response = sign_in_with(provider, email=address, email_verified=True)
    assert user_of(client) is None
    assert "ASCII" in message(response)
    assert not Client().login(username=address, password=PASSWORD)
    assert User.objects.find(address) is None
    assert User.objects.count() == 3
    assert not ExternalAccount.objects.exists()
    response = Client().post(reverse("password_reset"), {"email": address})
    assert response.status_code == 422
