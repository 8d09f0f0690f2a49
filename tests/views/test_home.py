"""The list of cases and what happened lately."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from relevancy import cases, judging
from relevancy.models import Case, Query, RatingChange, Run

from .factories import make_case, make_run


def rows_of(response):
    return [row.case.name for row in response.context["rows"]]


def test_home_asks_to_sign_in(client, db):
    assert client.get("/").headers["Location"] == "/login/?next=/"


def test_home_empty_offers_three_ways(sign_in):
    page = sign_in("stranger").get("/").content.decode()
    assert "No cases yet" in page
    assert (
        page.count("<b>New case</b>") == page.count("<b>Upload rankings</b>") == page.count("<b>Join a team</b>") == 1
    )


@pytest.mark.parametrize(
    ("who", "seen"), [("viewer", True), ("rater", True), ("editor", True), ("owner", True), ("stranger", False)]
)
def test_home_shows_only_what_is_visible(sign_in, people, team, who, seen):
    make_case(people["admin"], "Shared", team=team)
    make_case(people["admin"], "Private")
    page = sign_in(who).get("/")
    assert rows_of(page) == (["Shared"] if seen else [])
    assert "Private" not in page.content.decode()


def test_home_actions_follow_the_role(sign_in, people, team):
    case = make_case(people["admin"], team=team)
    for who, share, archive in (("viewer", 0, 0), ("rater", 0, 0), ("editor", 1, 0), ("owner", 1, 1)):
        page = sign_in(who).get("/").content.decode()
        assert page.count(f"/cases/{case.pk}/share/") == share
        assert page.count(f"/cases/{case.pk}/archive/") == archive


def test_home_score_change_and_history(sign_in, people):
    case = make_case(people["owner"])
    for score in (40.0, None, 55.0, 61.25):
        make_run(case, score)
    response = sign_in("owner").get("/")
    row = response.context["rows"][0]
    assert (row.score.score, row.change, row.history) == (61.25, 6.25, [40.0, 55.0, 61.25])
    page = response.content.decode()
    assert "<b>61.3</b>" in page
    assert "+6.3" in page
    assert "56–66" in page
    assert "2 of 2" in page


def test_home_history_holds_twelve_runs(sign_in, people):
    case = make_case(people["owner"])
    for score in range(20):
        make_run(case, float(score))
    row = sign_in("owner").get("/").context["rows"][0]
    assert row.history == [float(score) for score in range(8, 20)]
    assert row.change == 1.0


def test_home_running_case_keeps_its_old_score(sign_in, people):
    case = make_case(people["owner"])
    make_run(case, 50.0)
    make_run(case, None, status="running", queries=1000, done=412)
    page = sign_in("owner").get("/").content.decode()
    assert '<b class="quiet">50.0</b>' in page
    assert "412 of 1,000" in page
    assert 'hx-trigger="load delay:3s"' in page


def test_home_polls_only_while_something_runs(sign_in, people):
    make_run(make_case(people["owner"]), 50.0)
    assert "load delay" not in sign_in("owner").get("/").content.decode()


@pytest.mark.parametrize(
    ("status", "fields", "words"),
    [
        ("failed", {"reason": "Nobody there"}, "failed"),
        ("incomplete", {"failed": 1}, "1 failed"),
        ("cancelled", {}, "stopped"),
    ],
)
def test_home_says_how_the_last_run_ended(sign_in, people, status, fields, words):
    make_run(make_case(people["owner"]), None, status=status, **fields)
    assert words in sign_in("owner").get("/").content.decode()


def test_home_filter_and_fragment(sign_in, people):
    for name in ("Movies", "Books"):
        make_case(people["owner"], name)
    client = sign_in("owner")
    assert rows_of(client.get("/?f=MOV")) == ["Movies"]
    fragment = client.get("/?f=mov", headers={"HX-Request": "true"})
    assert b"<html" not in fragment.content
    assert b'id="cases"' in fragment.content
    nothing = client.get("/?f=<script>").content.decode()
    assert "No case contains “&lt;script&gt;”" in nothing


def test_home_sorts_both_ways_and_ignores_unknown(sign_in, people):
    for name, score in (("A", 10.0), ("B", 30.0), ("C", 20.0)):
        make_run(make_case(people["owner"], name), score)
    client = sign_in("owner")
    assert rows_of(client.get("/?sort=-score")) == ["B", "C", "A"]
    assert rows_of(client.get("/?sort=score")) == ["A", "C", "B"]
    assert rows_of(client.get("/?sort=name")) == ["A", "B", "C"]
    assert len(rows_of(client.get("/?sort=password"))) == 3


def test_home_archived(sign_in, people):
    case = make_case(people["owner"], "Old")
    cases.archive(case=case)
    client = sign_in("owner")
    assert rows_of(client.get("/")) == []
    assert rows_of(client.get("/?archived=1")) == ["Old"]


def statements(client):
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert client.get("/").status_code == 200
    return len(captured)


def rate_one(rater):
    query = Query.objects.filter(text="star wars").first()
    judging.rate(query=query, doc_id="1", value=query.book.top, by=rater)


def test_home_same_number_of_statements_for_30_cases(sign_in, people, team):
    client = sign_in("editor")
    for count in range(3):
        make_run(make_case(people["admin"], f"Case {count}", team=team), 50.0)
    rate_one(people["rater"])
    few = statements(client)
    for count in range(27):
        case = make_case(people["admin"], f"More {count}", team=team)
        make_run(case, 40.0)
        make_run(case, 50.0)
    assert Case.objects.count() == 30
    assert statements(client) == few
    assert few <= 12


def test_lately_brings_ratings_of_a_day_together(sign_in, people, team):
    case = make_case(people["admin"], team=team)
    query = Query.objects.get(book=case.book, text="star wars")
    for doc in range(3):
        judging.rate(query=query, doc_id=str(doc), value=case.book.top, by=people["rater"])
    events = sign_in("viewer").get("/").context["lately"]
    assert [(event.kind, event.who.name, event.count) for event in events if event.kind == "ratings"] == [
        ("ratings", "Rater", 3)
    ]
    RatingChange.objects.update(at=timezone.now() - timezone.timedelta(days=2))
    judging.rate(query=query, doc_id="9", value=case.book.top, by=people["rater"])
    events = sign_in("viewer").get("/").context["lately"]
    assert [event.count for event in events if event.kind == "ratings"] == [1, 3]


def test_lately_shows_runs_with_their_change_and_nothing_of_others(sign_in, people, team):
    case = make_case(people["admin"], team=team)
    make_run(case, 40.0, days=2)
    make_run(case, 46.2, days=1)
    hidden = make_case(people["admin"], "Hidden")
    make_run(hidden, 1.0)
    events = sign_in("viewer").get("/").context["lately"]
    assert {event.case.name for event in events} == {"Movies"}
    assert [(event.run.number, event.change) for event in events if event.kind == "run"] == [
        (2, pytest.approx(6.2)),
        (1, None),
    ]
    assert Run.objects.count() == 3


def test_nav_theme_and_keys(sign_in, people):
    people["owner"].single_keys = False
    people["owner"].save()
    client = sign_in("owner")
    client.cookies["theme"] = "dark"
    page = client.get("/").content.decode()
    assert 'data-theme="dark"' in page
    assert 'data-keys="off"' in page
    assert 'aria-current="page">Home' in page
    client.cookies["theme"] = '"><script>'
    assert "<script>" not in client.get("/").content.decode().partition("<body")[0].replace("<script ", "")
