"""Signing in and out, the account, the list of scorers."""

import pytest

from relevancy.formats.documents import sample
from relevancy.models import Scorer, User

PASSWORD = "correct horse 12"
PLACES = (
    "",
    "account/",
    "account/password/",
    "cases/new/",
    "endpoints/",
    "endpoints/new/",
    "scorers/",
    "teams/",
    "teams/new/",
)


@pytest.mark.parametrize("address", [f"/{position}" for position in PLACES])
def test_signed_in_only(client, db, address):
    assert client.get(address).headers["Location"] == f"/login/?next={address}"


def test_sign_in_and_out(client, people):
    people["owner"].set_password(PASSWORD)
    people["owner"].save()
    wrong = client.post("/login/", {"username": "owner@example.org", "password": "no"})
    assert wrong.status_code == 200
    assert "The e-mail address or the password is wrong." in wrong.content.decode()
    assert "_auth_user_id" not in client.session
    assert client.post("/login/", {"username": "Owner@Example.org", "password": PASSWORD}).headers["Location"] == "/"
    assert client.get("/account/").status_code == 200
    assert client.post("/logout/").headers["Location"] == "/login/"
    assert client.get("/account/").status_code == 302


def test_account_name_and_keys(sign_in, people):
    client = sign_in("rater")
    page = client.get("/account/").content.decode()
    assert "rater@example.org" in page
    assert "Search" in page
    client.post("/account/", {"name": "Rita R."})
    people["rater"].refresh_from_db()
    assert (people["rater"].name, people["rater"].single_keys) == ("Rita R.", False)
    assert 'data-keys="off"' in client.get("/account/").content.decode()


def test_account_changes_nothing_else(sign_in, people):
    sign_in("rater").post(
        "/account/", {"name": "R", "single_keys": "on", "is_superuser": "on", "email": "x@example.org"}
    )
    people["rater"].refresh_from_db()
    assert (people["rater"].is_superuser, people["rater"].email) == (False, "rater@example.org")


def test_account_name_too_long(sign_in):
    response = sign_in("rater").post("/account/", {"name": "x" * 121})
    assert response.status_code == 422
    assert list(response.context["form"].errors) == ["name"]


def test_password_change(sign_in, people):
    people["rater"].set_password(PASSWORD)
    people["rater"].save()
    client = sign_in("rater")
    wrong = client.post(
        "/account/password/", {"old_password": "no", "new_password1": "short", "new_password2": "other"}
    )
    assert {"old_password", "new_password2"} == set(wrong.context["form"].errors)
    new = {"old_password": PASSWORD, "new_password1": "battery staple 9", "new_password2": "battery staple 9"}
    assert client.post("/account/password/", new).headers["Location"] == "/account/password/done/"
    assert client.get("/account/password/done/").status_code == 200
    people["rater"].refresh_from_db()
    assert people["rater"].check_password("battery staple 9")


def test_scorers_lists_the_shipped_and_ones_own(sign_in, people):
    for who in ("rater", "stranger"):
        scorer = Scorer.objects.create(name=f"of {who}", owner=people[who])
        scorer.versions.create(number=1, measure="P@5", scale=[[0, ""], [1, ""]])
    page = sign_in("rater").get("/scorers/").content.decode()
    for words in ("AvgEdit", "nDCG@10", "default", "of rater", "Perfect"):
        assert words in page
    assert "of stranger" not in page


def test_sign_in_page_of_a_demonstration(client, db, settings):
    settings.DEMO = True
    assert "demo-title" not in client.get("/login/").content.decode()  # nobody to sign in as
    User.objects.create_user("rater@example.com", sample.PASSWORD, name="Jonas Weber")
    page = client.get("/login/?next=/scorers/").content.decode()
    assert "Sign in as Jonas<" in page and "demo@example.com" not in page
    sent = {"username": "rater@example.com", "password": sample.PASSWORD, "next": "/scorers/"}
    assert client.post("/login/", sent).headers["Location"] == "/scorers/"
    settings.DEMO = False
    client.logout()
    assert "Jonas" not in client.get("/login/").content.decode()
