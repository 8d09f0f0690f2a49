"""Passwords: asked for by e-mail, chosen with a link, changed; and the sessions that this ends."""

import re

import pytest
from django.contrib.auth.models import Permission
from django.core import mail
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from relevancy import accounts
from relevancy.models import ApiToken, User, UserSession

OLD, NEW = "correct horse 12", "another horse 34"


@pytest.fixture
def rater(people):
    people["rater"].set_password(OLD)
    people["rater"].save()
    return people["rater"]


@pytest.fixture
def with_mail(settings, monkeypatch):
    monkeypatch.setattr("django.core.mail.message.DNS_NAME", "localhost")  # tests resolve no names
    settings.MAIL_HOST, settings.SITE_URL = "mail.example.org", "https://relevancy.example.org"


def signed_in(user, password=OLD):
    client = Client(headers={"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"})
    assert client.post("/login/", {"username": user.email, "password": password}).status_code == 302
    return client


def choose(client, path, password, **data):
    """Follows a link and sets a password."""
    page = client.get(path, follow=True)
    assert page.status_code == 200
    return client.post(page.request["PATH_INFO"], {"new_password1": password, "new_password2": password, **data})


def sent_path(email):
    """Asks for a link. The path of the one that was sent."""
    Client().post(reverse("password_reset"), {"email": email})
    return re.search(r"https://relevancy\.example\.org(/\S+)", mail.outbox[-1].body)[1]


def set_up_ways_in(user):
    """What lets somebody in without the password, as somebody who signed up with this address could have left it. The token's text."""
    User.objects.filter(pk=user.pk).update(has_confirmed_email=False)
    return accounts.api_tokens.create(user=user, name="job", scope=ApiToken.Scope.READ, days=None)[1]


def status_of_token(text):
    return Client().get("/api/v1/cases", headers={"Authorization": f"Bearer {text}"}).status_code


def test_a_forgotten_password_is_set_by_a_link(client, rater, with_mail):
    other = signed_in(rater)
    response = client.post(reverse("password_reset"), {"email": "RATER@example.org"})
    assert response.headers["Location"] == reverse("password_reset_done")
    [message] = mail.outbox
    assert message.to == ["rater@example.org"]
    path = re.search(r"https://relevancy\.example\.org(/\S+)", message.body)[1]
    assert choose(client, path, NEW).headers["Location"] == reverse("password_reset_complete")
    assert "_auth_user_id" not in client.session
    rater.refresh_from_db()
    assert rater.check_password(NEW)
    assert other.get("/account/").status_code == 302
    assert "form" not in client.get(path, follow=True).context or not client.get(path, follow=True).context["form"]


def test_a_request_for_a_link_does_not_say_who_has_an_account(client, rater, with_mail):
    User.objects.create_user("gone@example.org", is_active=False)
    answers = []
    for email in ("rater@example.org", "nobody@example.org", "gone@example.org"):
        response = client.post(reverse("password_reset"), {"email": email})
        answers.append((response.status_code, response.headers["Location"], response.content))
    assert len(set(answers)) == 1
    assert [message.to for message in mail.outbox] == [["rater@example.org"]]


def test_messages_to_one_account_are_limited(client, rater, with_mail):
    statuses = [client.post(reverse("password_reset"), {"email": "rater@example.org"}).status_code for _ in range(4)]
    assert statuses == [302, 302, 302, 429]
    assert len(mail.outbox) == 3
    assert client.post(reverse("password_reset"), {"email": "no address"}).status_code == 422


def test_without_a_mail_server_the_page_names_the_admins(client, rater):
    response = client.post(reverse("password_reset"), {"email": "rater@example.org"})
    assert 'id="no-mail"' in response.content.decode()
    assert mail.outbox == []


def test_a_link_that_was_sent_ends_all_ways_into_an_account_made_by_somebody_else(rater, with_mail):
    other_browser, token = signed_in(rater), set_up_ways_in(rater)
    path = sent_path(rater.email)
    assert (other_browser.get("/account/").status_code, status_of_token(token)) == (200, 200)
    assert 'name="revoke"' not in Client().get(path, follow=True).content.decode()
    assert choose(Client(), path, NEW).status_code == 302
    assert (other_browser.get("/account/").status_code, status_of_token(token)) == (302, 401)
    rater.refresh_from_db()
    assert rater.has_confirmed_email


@pytest.mark.parametrize("revoke", [False, True])
def test_a_link_of_an_admin_confirms_nothing_and_offers_to_revoke(rater, revoke):
    token = set_up_ways_in(rater)
    path = accounts.passwords.reset_path(rater)
    assert "checked" in Client().get(path, follow=True).content.decode()
    assert choose(Client(), path, NEW, **({"revoke": "on"} if revoke else {})).status_code == 302
    rater.refresh_from_db()
    assert not rater.has_confirmed_email
    assert status_of_token(token) == (401 if revoke else 200)


def test_a_link_of_an_admin_cannot_be_used_as_one_that_was_sent(rater):
    set_up_ways_in(rater)
    path = accounts.passwords.reset_path(rater).replace("/new/", "/sent/")
    assert 'name="new_password1"' not in Client().get(path, follow=True).content.decode()


@pytest.mark.parametrize("way", ["link", "change"])
@pytest.mark.parametrize("revoke", [False, True])
def test_a_new_password_revokes_tokens_if_asked(rater, with_mail, way, revoke):
    token = set_up_ways_in(rater)
    User.objects.filter(pk=rater.pk).update(has_confirmed_email=True)
    data = {"revoke": "on"} if revoke else {}
    if way == "link":
        response = choose(Client(), sent_path(rater.email), NEW, **data)
    else:
        data |= {"old_password": OLD, "new_password1": NEW, "new_password2": NEW}
        response = signed_in(rater).post(reverse("password_change"), data)
    assert response.status_code == 302
    assert status_of_token(token) == (401 if revoke else 200)


def test_a_link_ends_with_a_new_sign_in(client, rater):
    path = accounts.passwords.reset_path(rater)
    signed_in(rater)
    response = client.get(path, follow=True)
    assert 'name="new_password1"' not in response.content.decode()


def test_an_admin_makes_a_link(client, people, rater):
    data = {"action": "make_password_links", "_selected_action": [rater.pk]}
    client.force_login(people["admin"])
    response = client.post(reverse("admin:relevancy_user_changelist"), data, follow=True)
    path = re.search(r"http://testserver(/account/password/new/\S+/)<", response.content.decode())[1]
    assert choose(Client(), path, NEW).status_code == 302
    rater.refresh_from_db()
    assert rater.check_password(NEW)


def test_staff_make_no_links(client, people, rater):
    User.objects.filter(pk=people["editor"].pk).update(is_staff=True)
    editor = User.objects.get(pk=people["editor"].pk)
    editor.user_permissions.add(*Permission.objects.filter(codename__in=["view_user", "change_user"]))
    client.force_login(editor)
    data = {"action": "make_password_links", "_selected_action": [rater.pk]}
    assert client.post(reverse("admin:relevancy_user_changelist"), data).status_code == 403


def test_a_change_of_the_password_ends_other_sessions(rater):
    here, other_browser = signed_in(rater), signed_in(rater)
    data = {"old_password": OLD, "new_password1": NEW, "new_password2": NEW}
    assert here.post(reverse("password_change"), data).status_code == 302
    assert here.get("/account/").status_code == 200
    assert other_browser.get("/account/").status_code == 302


@pytest.mark.parametrize("page", ["password_change", "admin:password_change"])
def test_the_old_password_cannot_be_guessed_in_an_open_session(client, rater, page):
    User.objects.filter(pk=rater.pk).update(is_staff=True)
    client.force_login(rater)
    url, new = reverse(page), {"new_password1": NEW, "new_password2": NEW}
    statuses = [client.post(url, {"old_password": "wrong", **new}).status_code for _ in range(11)]
    assert statuses == [422] * 10 + [429]
    response = client.post(url, {"old_password": OLD, **new})
    assert response.status_code == 429
    assert "Too many failed attempts" in response.content.decode()
    rater.refresh_from_db()
    assert rater.check_password(OLD)
    assert Client().post("/login/", {"username": rater.email, "password": OLD}).status_code == 429


def test_sessions_are_listed_with_their_browser_and_without_their_key(rater, people):
    here, other_browser = signed_in(rater), signed_in(rater)
    page = here.get(reverse("account_sessions")).content.decode()
    assert len(re.findall("data-session=", page)) == 2
    assert page.count("Firefox on Linux") == 2
    assert "127.0.0.1" in page
    assert here.session.session_key not in page
    assert other_browser.session.session_key not in page


def test_one_session_is_ended(rater):
    here, other_browser = signed_in(rater), signed_in(rater)
    page = here.get(reverse("account_sessions")).content.decode()
    [reference] = re.findall(r"/account/sessions/(\w{32})/end/", page)
    assert here.post(reverse("account_session_end", args=[reference])).status_code == 302
    assert other_browser.get("/account/").status_code == 302
    assert here.get("/account/").status_code == 200
    assert here.post(reverse("account_session_end", args=[reference])).status_code == 404


def test_a_session_of_another_user_is_not_ended(rater, people):
    other_browser = signed_in(rater)
    [row] = accounts.sessions.current(rater)
    other = Client()
    other.force_login(people["admin"])
    assert other.post(reverse("account_session_end", args=[row.reference])).status_code == 404
    other.post(reverse("account_sessions_end"))
    assert other_browser.get("/account/").status_code == 200


def test_sign_out_everywhere_else(rater):
    here, *others = [signed_in(rater) for _ in range(3)]
    response = here.post(reverse("account_sessions_end"), follow=True)
    assert "Signed out of 2 other sessions." in response.content.decode()
    assert [client.get("/account/").status_code for client in (here, *others)] == [200, 302, 302]
    assert UserSession.objects.filter(user=rater).count() == 1


def test_a_session_ends_at_its_time(rater):
    client = signed_in(rater)
    assert client.get("/account/").status_code == 200
    UserSession.objects.filter(user=rater).update(expire_date=timezone.now())
    assert client.get("/account/").status_code == 302


def test_signing_out_removes_the_session(rater):
    client = signed_in(rater)
    client.post("/logout/")
    assert not UserSession.objects.filter(user=rater).exists()


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0",
            "Edge on Windows",
        ),
        ("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36", "Chrome on Android"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1", "Safari on iOS"),
        ("curl/8.0", ""),
        ("", ""),
    ],
)
def test_names_of_browsers(agent, name):
    request = RequestFactory().get("/", headers={"User-Agent": agent})
    request.session = {}
    accounts.sessions.describe(request)
    assert request.session["client"]["client"] == name
