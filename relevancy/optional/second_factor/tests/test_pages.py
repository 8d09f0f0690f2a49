"""The second factor: set up, asked for after the password, removed."""

import re
from datetime import timedelta

import pyotp
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from relevancy import accounts
from relevancy.models import User
from relevancy.optional.second_factor import pages, second_factor
from relevancy.optional.second_factor.models import Authenticator, RecoveryCode

PASSWORD = "correct horse 12"


@pytest.fixture
def rater(people):
    people["rater"].set_password(PASSWORD)
    people["rater"].save()
    return people["rater"]


def app_code(user, steps=0):
    """What the app of a user shows, `steps` half minutes from now."""
    key = Authenticator.objects.get(user=user).secret["key"]
    return pyotp.TOTP(key).at(timezone.now() + timedelta(seconds=30 * steps))


@pytest.fixture
def codes(rater):
    """Turns the second factor of the rater on; the recovery codes."""
    second_factor.begin(user=rater)
    codes = second_factor.confirm(user=rater, code=app_code(rater))
    Authenticator.objects.update(last_step=0)  # as if some time had passed
    return codes


def enter_password(rater, client=None, url="login", target=""):
    client = client or Client()
    data = {"username": rater.email, "password": PASSWORD, "next": target}
    return client, client.post(reverse(url), data)


def is_signed_in(client):
    return "_auth_user_id" in client.session


def test_set_up(sign_in, rater):
    client, url = sign_in("rater"), reverse("account_second_factor")
    password = {"password": PASSWORD}
    assert 'data-on="0"' in client.get(url).content.decode()
    page = client.post(url, {"do": "begin"}).content.decode()
    [key] = re.findall(r'id="totp-key">(\w+)<', page)
    assert 'src="data:image/svg+xml' in page
    assert client.post(url, {"do": "confirm", "code": "000000x", **password}).status_code == 422
    assert not second_factor.is_on(rater)
    page = client.post(url, {"do": "confirm", "code": pyotp.TOTP(key).now(), **password}).content.decode()
    assert len(re.findall(r"<li>\w{4}-\w{4}-\w{4}-\w{4}</li>", page)) == 10
    assert second_factor.is_on(rater)
    again = client.get(url).content.decode()
    assert 'data-on="1"' in again
    assert key not in again
    assert 'id="recovery-codes"' not in again


def test_nobody_turns_it_on_in_an_open_session_without_the_password(sign_in, rater):
    client, url = sign_in("rater"), reverse("account_second_factor")
    client.post(url, {"do": "begin"})
    confirm = {"do": "confirm", "code": app_code(rater)}
    statuses = [client.post(url, confirm | wrong).status_code for wrong in ({}, *[{"password": "wrong"}] * 11)]
    assert statuses == [422] * 11 + [429]
    assert client.post(url, confirm | {"password": PASSWORD}).status_code == 429
    assert not second_factor.is_on(rater)


def test_an_account_without_a_password_needs_the_code_alone(sign_in, rater):
    rater.set_unusable_password()
    rater.save()
    client, url = sign_in("rater"), reverse("account_second_factor")
    assert 'name="password"' not in client.post(url, {"do": "begin"}).content.decode()
    assert client.post(url, {"do": "confirm", "code": app_code(rater)}).status_code == 200
    assert second_factor.is_on(rater)


def test_the_secret_and_the_codes_are_not_stored_in_clear(rater, codes, django_assert_num_queries):
    authenticator = Authenticator.objects.get(user=rater)
    with django_assert_num_queries(1):
        stored = Authenticator.objects.raw("SELECT id, secret AS text FROM second_factor_authenticator")[0].text
    assert authenticator.secret["key"] not in stored
    assert not {code.replace("-", "") for code in codes} & set(RecoveryCode.objects.values_list("digest", flat=True))


@pytest.mark.parametrize("url", ["login", "admin:login"])
def test_a_password_alone_signs_nobody_in(rater, codes, url):
    User.objects.filter(pk=rater.pk).update(is_staff=True)
    client, response = enter_password(rater, url=url, target="/teams/")
    assert response.headers["Location"] == reverse("login_code")
    assert not is_signed_in(client)
    assert client.get("/account/").status_code == 302
    assert client.get("/admin/").status_code == 302
    response = client.post(reverse("login_code"), {"code": app_code(rater)})
    assert response.headers["Location"] == "/teams/"
    assert is_signed_in(client)
    assert "known_browser" in response.cookies


def test_a_code_is_accepted_once(rater, codes):
    code = app_code(rater)
    for status in (302, 422):
        client, _ = enter_password(rater)
        assert client.post(reverse("login_code"), {"code": code}).status_code == status


@pytest.mark.parametrize(("steps", "status"), [(-1, 302), (1, 302), (-4, 422), (4, 422)])
def test_clocks_may_differ_by_half_a_minute(rater, codes, steps, status, monkeypatch):
    now = timezone.now()
    monkeypatch.setattr("django.utils.timezone.now", lambda: now)
    client, _ = enter_password(rater)
    assert client.post(reverse("login_code"), {"code": app_code(rater, steps)}).status_code == status


def test_a_recovery_code_is_accepted_once(rater, codes):
    for status in (302, 422):
        client, _ = enter_password(rater)
        assert client.post(reverse("login_code"), {"code": codes[0].upper()}).status_code == status
    assert second_factor.unused_codes(rater) == 9


def test_wrong_codes_are_limited(rater, codes):
    client, _ = enter_password(rater)
    for code in ("000", "ßßßßßß", *["000000x"] * 8):
        assert client.post(reverse("login_code"), {"code": code}).status_code == 422
    other, _ = enter_password(rater)
    assert other.post(reverse("login_code"), {"code": app_code(rater)}).status_code == 429
    assert not is_signed_in(other)


def test_the_page_for_codes_needs_a_recent_password(client, rater, codes, monkeypatch):
    assert client.get(reverse("login_code")).headers["Location"] == reverse("login")
    client, _ = enter_password(rater, client)
    monkeypatch.setattr(pages, "MAX_AGE", -1)
    assert client.post(reverse("login_code"), {"code": codes[0]}).headers["Location"] == reverse("login")
    assert not is_signed_in(client)


@pytest.mark.parametrize("change", ["password", "deactivated"])
def test_a_change_of_the_account_ends_a_sign_in_half_way(rater, codes, change):
    client, _ = enter_password(rater)
    if change == "password":
        rater.set_password("another horse 34")
    else:
        rater.is_active = False
    rater.save()
    assert client.post(reverse("login_code"), {"code": codes[0]}).headers["Location"] == reverse("login")
    assert not is_signed_in(client)


def test_removing_it_and_new_codes_need_a_code(sign_in, rater, codes):
    client, url = sign_in("rater"), reverse("account_second_factor")
    for action in ("renew", "remove"):
        assert client.post(url, {"do": action, "code": "000000x"}).status_code == 422
        assert client.post(url, {"do": action}).status_code == 422
    assert second_factor.unused_codes(rater) == 10
    page = client.post(url, {"do": "renew", "code": codes[0]}).content.decode()
    [new, *_] = re.findall(r"<li>(\w{4}-\w{4}-\w{4}-\w{4})</li>", page)
    assert client.post(url, {"do": "remove", "code": codes[1]}).status_code == 422
    assert client.post(url, {"do": "remove", "code": new}).status_code == 302
    assert not second_factor.is_on(rater)
    assert is_signed_in(enter_password(rater)[0])


def test_setting_it_up_again_does_not_replace_it(sign_in, rater, codes):
    key = Authenticator.objects.get(user=rater).secret
    sign_in("rater").post(reverse("account_second_factor"), {"do": "begin"})
    assert Authenticator.objects.get(user=rater).secret == key


def test_an_admin_removes_it_for_a_user(client, people, rater, codes):
    data = {"action": "remove_second_factors", "_selected_action": [rater.pk]}
    client.force_login(people["admin"])
    client.post(reverse("admin:relevancy_user_changelist"), data)
    assert not second_factor.is_on(rater)
    assert not RecoveryCode.objects.exists()


def test_deleting_the_account_needs_a_code(sign_in, rater, codes):
    client, url = sign_in("rater"), reverse("account_delete")
    assert 'data-deleted="second-factor"' in client.get(url).content.decode()
    response = client.post(url, {"password": PASSWORD, "code": "000000x"})
    assert (response.status_code, list(response.context["form"].errors)) == (422, ["code"])
    code = app_code(rater)
    assert client.post(url, {"password": "wrong", "code": code}).status_code == 422  # does not use the code up
    assert client.post(url, {"password": PASSWORD, "code": code}).status_code == 302
    assert not second_factor.is_on(rater)
    assert not (Authenticator.objects.exists() or RecoveryCode.objects.exists())


@pytest.mark.parametrize("is_claimed", [False, True])
def test_it_ends_if_another_person_may_have_set_it_up(rater, codes, is_claimed):
    """With a link that was sent to an address that was not confirmed. Otherwise it ends with a code, or by an admin."""
    rater.has_confirmed_email = not is_claimed
    accounts.passwords.password_was_set(user=rater, by_message=True, revoke=True)
    assert second_factor.is_on(rater) != is_claimed
    assert Authenticator.objects.exists() != is_claimed


def test_another_secret_is_shown_after_it_was_removed(sign_in, rater, codes):
    key = Authenticator.objects.get(user=rater).secret["key"]
    second_factor.remove(user=rater)
    client, url = sign_in("rater"), reverse("account_second_factor")
    assert key not in client.get(url).content.decode()
    assert key not in client.post(url, {"do": "begin"}).content.decode()
