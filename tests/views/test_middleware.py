"""Requests of users who have been signed out, and errors while the database is not available."""

import errno

import pytest
from django.db import InterfaceError, OperationalError
from django.urls import reverse

from relevancy.views.home import pages as home_pages
from relevancy.views.middleware import DATABASE_BUSY, DISK_FULL, SignInRequiredMiddleware
from tests.factories import make_case, make_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("sender", "back"),
    [
        ("http://testserver/cases/7/?q=star", "/cases/7/%3Fq%3Dstar"),
        ("http://elsewhere.example/cases/7/", "/"),
        ("", "/"),
    ],
)
def test_signed_out_form_leads_back_to_the_page_that_sent_it(client, sender, back):
    response = client.post(reverse("team_new"), headers={"referer": sender})
    assert response.status_code == 302
    assert response.headers["Location"] == f"{reverse('login')}?next={back}"


def test_signed_out_page_leads_back_to_itself(client):
    response = client.get(reverse("teams"))
    assert response.headers["Location"] == f"{reverse('login')}?next=/teams/"


def test_no_proxy_keeps_a_page_and_no_browser_keeps_a_download(client):
    ann = make_user("Ann")
    case = make_case(1, owner=ann)
    client.force_login(ann)
    pages = [client.get(reverse("home")), client.get("/nothing/"), client.get("/api/v1/cases")]
    assert {page.headers["Cache-Control"] for page in pages} == {"private, no-cache"}
    assert client.get(reverse("queries_csv", args=[case.pk])).headers["Cache-Control"] == "private, no-store"


@pytest.mark.django_db
@pytest.mark.parametrize("error", [OperationalError("database is locked"), InterfaceError("connection is closed")])
class TestUnavailable:
    """The response asks the user to try again, whichever part of the site has noticed the problem."""

    @pytest.fixture(autouse=True)
    def answers_instead_of_errors(self, client):
        client.raise_request_exception = False

    def test_in_a_view(self, client, monkeypatch, caplog, error):
        monkeypatch.setattr(home_pages, "render", fails_with(error))
        client.force_login(make_user("Ann"))
        response = client.get(reverse("home"))
        assert (response.status_code, response.headers["Retry-After"]) == (503, "10")
        assert "data-message" in response.content.decode()
        # The reason and the request, a line each: while a site is overloaded, its log grows with every request.
        names = [record.name for record in caplog.records if record.name != "django.db.backends"]
        assert names == ["relevancy.views", "relevancy.requests"]

    def test_in_htmx(self, client, monkeypatch, error):
        monkeypatch.setattr(home_pages, "render", fails_with(error))
        client.force_login(make_user("Ann"))
        response = client.get(reverse("home"), headers={"HX-Request": "true"})
        assert (response.status_code, response.content.decode()) == (503, DATABASE_BUSY)

    def test_in_other_middleware(self, client, monkeypatch, error):
        monkeypatch.setattr(SignInRequiredMiddleware, "process_view", fails_with(error))
        assert client.get(reverse("home")).status_code == 503


@pytest.mark.django_db
def test_a_full_disk_is_no_mistake_of_the_site(client, monkeypatch):
    monkeypatch.setattr(home_pages, "render", fails_with(OSError(errno.ENOSPC, "No space left on device")))
    client.force_login(make_user("Ann"))
    response = client.get(reverse("home"), headers={"HX-Request": "true"})
    assert (response.status_code, response.content.decode()) == (503, DISK_FULL)


@pytest.mark.django_db
def test_other_errors_are_errors(client, monkeypatch):
    client.raise_request_exception = False
    monkeypatch.setattr(SignInRequiredMiddleware, "process_view", fails_with(ValueError("x")))
    assert client.get(reverse("home")).status_code == 500


def fails_with(error):
    """A function that raises."""

    def fail(*args, **kwargs):
        raise error

    return fail


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/admin/relevancy/team/?q=" + "_" * 50_000, "/" + "a" * 50_000])
def test_long_addresses_are_refused(client, address):
    """SQLite: “LIKE or GLOB pattern too complex”."""
    client.raise_request_exception = False
    client.force_login(make_user("Ann", superuser=True))
    assert client.get(address).status_code == 414


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/?f=%00", "/login/?next=a%00", "/scorers/%00/"])
def test_null_characters_in_addresses_are_refused(client, address):
    client.raise_request_exception = False
    client.force_login(make_user("Ann"))
    assert client.get(address).status_code == 400
