"""Signing in is limited, in the sign-in page and the admin site, and never permanently."""

import time
from datetime import timedelta
from threading import Event, Thread
from typing import Any

import pytest
from django.contrib.auth.hashers import check_password
from django.core.exceptions import ValidationError
from django.db.models import F
from django.shortcuts import redirect
from django.test import Client, RequestFactory
from django.urls import reverse

from relevancy.accounts import HashingBusy, LimitedArgon2Hasher, LimitedHasher, MaximumLengthValidator, hashing, limits
from relevancy.hooks import Proof, proofs
from relevancy.models import RequiredProof, SignInCounter, User
from tests.factories import make_user

HERE, ELSEWHERE = "192.0.2.1", "198.51.100.7"
pytestmark = pytest.mark.django_db


@pytest.fixture
def ann() -> User:
    user = make_user("Ann")
    user.set_password("right")
    user.is_staff = True
    user.save()
    return user


def try_password(
    user: User, password: str, address: str = HERE, client: Client | None = None, url: str = "login"
) -> Any:
    data = {"username": user.email, "password": password}
    return (client or Client()).post(reverse(url), data, REMOTE_ADDR=address)


def fail(user: User, times: int, address: str = HERE, client: Client | None = None) -> None:
    for _ in range(times):
        assert try_password(user, "wrong", address, client).status_code == 200


@pytest.mark.parametrize("url", ["login", "admin:login"])
def test_many_failures_are_refused_even_with_the_password(ann: User, url: str) -> None:
    fail(ann, limits.PER_ACCOUNT_AND_ADDRESS)
    response = try_password(ann, "right", url=url)
    assert "Try again in 15 minutes" in response.content.decode()
    assert "_auth_user_id" not in response.wsgi_request.session


@pytest.mark.parametrize("url", ["login", "admin:login"])
def test_who_needs_more_than_a_password_gets_no_session(ann: User, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    RequiredProof.objects.create(user=ann, app="an_app")
    response = try_password(ann, "right", url=url)
    assert "relevancy remove_app an_app" in response.content.decode()  # no app asks for more
    assert "_auth_user_id" not in response.client.session
    asked = []
    proof = Proof(ask=lambda *args: asked.append(args[1:]) or redirect("/more/"), field=None, check=None)  # type: ignore[func-returns-value, arg-type]
    monkeypatch.setitem(proofs, "an_app", proof)
    response = try_password(ann, "right", url=url)
    assert response.headers["Location"] == "/more/"
    assert "_auth_user_id" not in response.client.session
    assert asked == [(ann, "/")]
    assert "relevancy remove_app" not in try_password(ann, "wrong", url=url).content.decode()  # only with the password


def test_a_refused_attempt_has_its_own_status_and_hashes_nothing(ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    fail(ann, limits.PER_ACCOUNT_AND_ADDRESS)
    monkeypatch.setattr(hashing, "_limited", lambda: pytest.fail("hashed"))
    assert try_password(ann, "right").status_code == 429


def test_a_lock_ends(ann: User) -> None:
    fail(ann, limits.PER_ACCOUNT_AND_ADDRESS)
    SignInCounter.objects.update(expires_at=F("expires_at") - limits.WINDOW)
    assert try_password(ann, "right").status_code == 302


def test_a_counter_that_has_expired_begins_again(ann: User) -> None:
    fail(ann, limits.PER_ACCOUNT_AND_ADDRESS)
    SignInCounter.objects.update(expires_at=F("expires_at") - limits.WINDOW - timedelta(minutes=1))
    fail(ann, 1)
    assert set(SignInCounter.objects.values_list("failures", flat=True)) == {1}


def test_an_address_that_tries_many_accounts_is_refused(ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PER_ADDRESS", 4)
    for number in range(4):
        Client().post(reverse("login"), {"username": f"n{number}@example.com", "password": "x"}, REMOTE_ADDR=HERE)
    assert try_password(ann, "right").status_code == 429
    assert try_password(ann, "right", ELSEWHERE).status_code == 302


def test_guesses_from_many_addresses_are_refused_but_not_the_owner(ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PER_ACCOUNT", 4)
    own = Client()
    assert try_password(ann, "right", client=own).status_code == 302
    own.post(reverse("logout"))
    for number in range(4):
        fail(ann, 1, f"203.0.113.{number}")
    assert try_password(ann, "right", ELSEWHERE).status_code == 429
    assert try_password(ann, "right", client=own).status_code == 302


def test_a_known_browser_has_a_limit_too_and_only_for_its_account(ann: User) -> None:
    own, ben = Client(), make_user("Ben")
    try_password(ann, "right", client=own)
    own.post(reverse("logout"))
    fail(ann, limits.PER_BROWSER, client=own)
    assert try_password(ann, "right", client=own).status_code == 429
    fail(ben, limits.PER_ACCOUNT_AND_ADDRESS, client=own)
    assert try_password(ben, "x", client=own).status_code == 429


def test_a_password_that_is_too_long_is_wrong_without_hashing(ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "_limited", lambda: pytest.fail("hashed"))
    assert try_password(ann, "x" * (hashing.MAX_LENGTH + 1)).status_code == 200
    with pytest.raises(ValidationError):
        MaximumLengthValidator().validate("x" * (hashing.MAX_LENGTH + 1))


def test_only_some_threads_hash() -> None:
    started, release = Event(), Event()

    class Slow(LimitedHasher):
        iterations = 1

    def slow(self: Any, *args: Any) -> str:
        started.set()
        release.wait(10)
        return "x"

    original = LimitedHasher.__mro__[1].encode
    try:
        LimitedHasher.__mro__[1].encode = slow  # type: ignore[method-assign]
        threads = [Thread(target=Slow().encode, args=("a", "salt")) for _ in range(2)]
        for thread in threads:
            thread.start()
            started.wait(10)
        while hashing._ADMITTED._value:
            time.sleep(0.01)
        with pytest.raises(HashingBusy):
            Slow().encode("a", "salt")
    finally:
        release.set()
        for thread in threads:
            thread.join()
        LimitedHasher.__mro__[1].encode = original  # type: ignore[method-assign]
    assert check_password("a", Slow().encode("a", "salt"))


def test_a_busy_site_asks_for_another_try(ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy() -> None:
        raise HashingBusy

    monkeypatch.setattr(hashing, "_limited", busy)
    assert try_password(ann, "right").status_code == 503


@pytest.mark.parametrize(
    ("proxies", "remote", "forwarded", "address"),
    [
        (0, HERE, "", HERE),
        (0, HERE, ELSEWHERE, HERE),  # anybody can send this header
        (1, HERE, f"10.0.0.1, {ELSEWHERE}", ELSEWHERE),
        (2, HERE, f"{ELSEWHERE}, 10.0.0.1", ELSEWHERE),
        (1, HERE, "", HERE),
        (0, "2001:db8:1:2:3::4", "", "2001:db8:1:2::/64"),
        (0, f"::ffff:{HERE}", "", HERE),
    ],
)
def test_address(settings: Any, proxies: int, remote: str, forwarded: str, address: str) -> None:
    settings.PROXIES = proxies
    headers = {"HTTP_X_FORWARDED_FOR": forwarded} if forwarded else {}
    assert limits.client_address(RequestFactory().get("/", REMOTE_ADDR=remote, **headers)) == address


def test_passwords_are_hashed_with_argon2(ann: User) -> None:
    assert ann.password.startswith("argon2$argon2id$")


def test_an_older_hash_is_replaced_at_sign_in(ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LimitedHasher, "iterations", 1)
    User.objects.filter(pk=ann.pk).update(password=LimitedHasher().encode("right", "salt"))
    assert try_password(ann, "wrong").status_code == 200
    assert try_password(ann, "right").status_code == 302
    ann.refresh_from_db()
    assert ann.password.startswith("argon2$argon2id$")
    assert try_password(ann, "right").status_code == 302


def test_argon2_is_checked_within_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = LimitedArgon2Hasher().encode("right", "saltsalt")
    assert LimitedArgon2Hasher().verify("right", encoded)
    monkeypatch.setattr(hashing._ADMITTED, "acquire", lambda **options: False)
    with pytest.raises(HashingBusy):
        LimitedArgon2Hasher().verify("right", encoded)
