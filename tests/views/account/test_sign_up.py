"""Creating an account without an invitation."""

import pytest

from relevancy.models import User

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


def create(client, email="new@example.org", **changes):
    return client.post("/sign-up/", {"email": email, "name": "Noa Neu", "password": PASSWORD, **changes})


@pytest.fixture
def open_site(settings):
    settings.OPEN_SIGN_UP = True


def test_nobody_can_sign_up_unless_the_site_is_open(client):
    assert b'id="create-account"' not in client.get("/login/").content
    assert (client.get("/sign-up/").status_code, create(client).status_code) == (404, 404)
    assert not User.objects.filter(email="new@example.org").exists()


def test_new_account_signs_in_and_has_no_rights(client, open_site):
    assert b'href="/sign-up/"' in client.get("/login/").content
    assert client.get("/sign-up/").status_code == 200
    assert create(client, "New@Example.org").url == "/login/"
    user = User.objects.get(email="new@example.org")
    assert not (user.is_staff or user.is_superuser or user.can_create_endpoints or user.has_confirmed_email)
    assert not user.memberships.exists()
    assert client.post("/login/", {"username": user.email, "password": PASSWORD}).url == "/"
    assert client.get("/sign-up/").url == "/"


def test_the_response_does_not_say_who_has_an_account(client, open_site):
    first, again = create(client), create(client, name="Another name", password="another horse battery")
    assert (first.status_code, first.url) == (again.status_code, again.url)
    user = User.objects.get(email="new@example.org")
    assert (user.name, user.check_password(PASSWORD)) == ("Noa Neu", True)


def test_mistakes_create_nothing(client, open_site):
    for changes, field in (
        ({"password": "12345678"}, "password"),
        ({"email": "nobody"}, "email"),
        ({"name": ""}, "name"),
    ):
        response = create(client, **changes)
        assert (response.status_code, list(response.context["form"].errors)) == (422, [field])
    assert not User.objects.filter(name="Noa Neu").exists()


def test_sign_up_is_limited_by_address(client, open_site, monkeypatch):
    monkeypatch.setattr("relevancy.accounts.limits.REQUESTS_PER_ADDRESS", 1)
    assert create(client).status_code == 302
    assert create(client, "other@example.org").status_code == 429
    assert not User.objects.filter(email="other@example.org").exists()


def test_sites_without_passwords_have_no_sign_up(client, open_site, settings):
    settings.PASSWORD_SIGN_IN = False
    assert create(client).status_code == 404
