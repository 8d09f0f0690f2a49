"""The page Judge: what a user can judge, where raters land, and why there is nothing."""

import pytest
from django.urls import reverse

from relevancy import judging
from relevancy.models import JudgingPair, Role, User
from tests.factories import make_case, make_team, make_user
from tests.views.workbench.example_cases import HTMX, make_workbench_case

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(people, team, script):
    """Two queries with three documents each; the queue is not built."""
    case = make_workbench_case(people, team, 2, {"query 1": {"a": 3}})
    case.book.teams.add(team)
    return case


def test_documents_are_chosen_when_somebody_looks_and_the_list_asks_again(sign_in, case, monkeypatch):
    sent = []
    monkeypatch.setattr("relevancy.tasks.send", lambda task, pk, **_: sent.append(pk))
    client = sign_in("rater")
    page = client.get("/judge/").content.decode()
    assert sent == [case.book_id]
    assert "The documents are being chosen" in page
    assert 'hx-get="/judge/"' in page
    judging.build_judging_queue(book=case.book)
    answer = client.get("/judge/", headers=HTMX).content.decode()
    assert answer.lstrip().startswith("<ul")
    assert "5 to judge of 6" in answer
    assert "hx-get" not in answer
    assert f'href="{reverse("judge", args=[case.book_id])}"' in answer


def test_documents_put_off_are_still_to_judge_and_judged_books_are_not_listed(sign_in, people, case):
    judging.build_judging_queue(book=case.book)
    for pair in JudgingPair.objects.open().select_related("query__book"):
        judging.judge(query=pair.query, doc_id=pair.doc_id, by=people["rater"], verdict="later")
    client = sign_in("rater")
    assert "5 to judge of 6" in client.get("/judge/").content.decode()
    for pair in JudgingPair.objects.open().select_related("query__book"):
        judging.judge(query=pair.query, doc_id=pair.doc_id, by=people["rater"], value=1)
    page = client.get("/judge/").content.decode()
    assert "All is judged" in page
    assert "work-book" not in page


@pytest.mark.parametrize(
    ("name", "text"),
    [("rater", "Owner has not shared anything with you yet"), ("stranger", "Nothing is shared with you")],
)
def test_without_work_the_page_says_why(sign_in, team, name, text):
    assert text in sign_in(name).get("/judge/").content.decode()


def test_a_book_without_a_run_has_nothing_yet(sign_in, people, team):
    make_case(1, owner=people["owner"]).book.teams.add(team)
    assert "There is nothing to judge yet" in sign_in("rater").get("/judge/").content.decode()


def test_only_users_without_another_role_are_only_raters(people, team):
    assert list(User.objects.only_raters()) == [people["rater"]]
    make_team(**{people["rater"].name: Role.VIEWER})
    assert not User.objects.only_raters().exists()


def test_an_owner_of_a_case_is_not_only_a_rater(people, team):
    make_case(1, owner=people["rater"])
    assert not User.objects.only_raters().exists()


@pytest.mark.parametrize(("name", "entries"), [("rater", ["Judge"]), ("editor", ["Judge", "Cases", "Books"])])
def test_judge_is_the_first_entry_and_the_only_one_of_raters(sign_in, team, name, entries):
    nav = sign_in(name).get("/books/").context["nav"]
    assert [entry["label"] for entry in nav][:3] == entries


def test_judging_pages_belong_to_judge(sign_in, case):
    for url in ("/judge/", reverse("judge", args=[case.book_id]), reverse("judge_list", args=[case.book_id])):
        nav = sign_in("editor").get(url).context["nav"]
        assert [entry["label"] for entry in nav if entry["current"]] == ["Judge"]


@pytest.mark.parametrize(("name", "url"), [("rater", "/judge/"), ("editor", "/")])
def test_raters_land_on_their_work(client, people, team, name, url):
    people[name].set_password("correct horse battery")
    people[name].save()
    data = {"username": people[name].email, "password": "correct horse battery"}
    assert client.post("/login/", data).headers["Location"] == url
    assert client.post("/login/?next=/books/", data).headers["Location"] == "/books/"


def test_statements_do_not_grow_with_the_books(people, django_assert_max_num_queries, client):
    rater = make_user("Jonas")
    team = make_team(Jonas=Role.RATER)
    owner = make_user()
    for _ in range(10):
        make_case(1, owner=owner).book.teams.add(team)
    client.force_login(rater)
    with django_assert_max_num_queries(16):
        client.get("/judge/")
