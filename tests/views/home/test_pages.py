"""Tests of the home page: the list of cases and the recent activity."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from relevancy import cases, ratings, scores
from relevancy.models import Case, Query, RatingChange, Run
from tests.factories import import_csv
from tests.markup import compact
from tests.views.factories import make_case, make_run


def rows_of(response):
    return [row.case.name for row, _ in response.context["rows"]]


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
    for who, archive in (("viewer", 0), ("rater", 0), ("editor", 0), ("owner", 1)):
        page = sign_in(who).get("/").content.decode()
        assert page.count(f"/cases/{case.pk}/archive/") == archive


def test_home_score_change_and_history(sign_in, people):
    case = make_case(people["owner"])
    for score in (40.0, None, 55.0, 61.25):
        make_run(case, score)
    response = sign_in("owner").get("/")
    row, _ = response.context["rows"][0]
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
    row, _ = sign_in("owner").get("/").context["rows"][0]
    assert row.history == [float(score) for score in range(8, 20)]
    assert row.change == 1.0


def test_home_running_case_keeps_its_old_score(sign_in, people):
    case = make_case(people["owner"])
    make_run(case, 50.0)
    make_run(case, None, status="running", queries=1000, done=412)
    page = sign_in("owner").get("/").content.decode()
    assert '<b class="muted">50.0</b>' in page
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
    assert "No case matches “&lt;script&gt;”" in nothing


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
    assert rows_of(client.get("/?show=archived")) == ["Old"]


def test_home_lists_failed_runs_and_unrated_results_for_those_who_can_do_something(sign_in, people, team):
    unrated, failed, incomplete, fine = (
        make_case(people["admin"], name, team=team) for name in ("Unrated", "Failed", "Incomplete", "Fine")
    )
    make_run(unrated, 50.0)
    make_run(failed, None, status="failed")
    make_run(incomplete, None, status="incomplete", failed=3)
    make_run(fine, 50.0).case_scores.update(unrated=0)
    listed = {
        who: [rows_of(sign_in(who).get(f"/?show={show}&sort=name")) for show in ("failed", "unrated")]
        for who in ("viewer", "rater", "editor", "stranger")
    }
    assert listed == {
        "viewer": [[], []],
        "rater": [[], ["Unrated"]],
        "editor": [["Failed", "Incomplete"], ["Unrated"]],
        "stranger": [[], []],
    }
    page = sign_in("editor").get("/").content.decode()
    assert (page.count('data-waiting="failed"'), page.count('data-waiting="unrated"')) == (2, 0)


def test_home_failed_run_is_done_with_when_the_next_one_has_started(sign_in, people):
    case = make_case(people["owner"])
    make_run(case, None, status="failed")
    assert rows_of(sign_in("owner").get("/?show=failed")) == ["Movies"]
    make_run(case, None, status="running", failed=1)
    assert rows_of(sign_in("owner").get("/?show=failed")) == []


def test_home_archived_cases_wait_for_nobody(sign_in, people):
    case = make_case(people["owner"])
    make_run(case, None, status="failed")
    cases.archive(case=case)
    assert sign_in("owner").get("/").context["waiting"] == cases.Waiting([], [], 0)


def test_home_unknown_list_is_that_of_all_cases(sign_in, people):
    make_case(people["owner"])
    assert rows_of(sign_in("owner").get("/?show=junk")) == ["Movies"]


def test_home_lists_keep_filter_and_order(sign_in, people):
    make_case(people["owner"])
    page = sign_in("owner").get("/?show=unrated&sort=name").content.decode()
    assert '<input type="hidden" name="show" value="unrated">' in compact(page)
    assert "/?show=archived&amp;sort=name" in page
    assert "show=failed" not in page  # no run has failed


def statements(client, url="/"):
    with CaptureQueriesContext(connection) as captured:
        assert client.get(url).status_code == 200
    return len(captured)


def rate_one(rater):
    query = Query.objects.filter(text="star wars").first()
    ratings.rate(query=query, doc_id="1", value=query.book.top, by=rater)


def test_home_same_number_of_statements_for_30_cases(sign_in, people, team):
    client = sign_in("editor")
    for count in range(3):
        make_run(make_case(people["admin"], f"Case {count}", team=team), 50.0)
    rate_one(people["rater"])
    for case in Case.objects.all():
        scores.rescore_case(case, seconds=60)
    few = statements(client)
    for count in range(27):
        case = make_case(people["admin"], f"More {count}", team=team)
        make_run(case, 40.0)
        make_run(case, 50.0)
    assert Case.objects.count() == 30
    assert statements(client) == few
    assert few <= 16


def test_home_pages_of_25(sign_in, people):
    for number in range(30):
        make_case(people["owner"], f"Case {number:02}")
    client = sign_in("owner")
    first, second = client.get("/?sort=name"), client.get("/?sort=name&page=2")
    assert rows_of(first) + rows_of(second) == [f"Case {number:02}" for number in range(30)]
    assert "?sort=name&amp;page=2" in first.content.decode()
    assert rows_of(client.get("/?f=case&sort=-name&page=2")) == [f"Case {number:02}" for number in range(4, -1, -1)]
    assert len(rows_of(client.get("/?page=junk"))) == 25


def test_home_of_60_cases_stays_small(sign_in, people):
    for number in range(60):
        make_run(make_case(people["owner"], f"A case with an ordinary name, number {number}"), 50.0)
    client = sign_in("owner")
    assert len(client.get("/").content) < 100_000
    for url in ("/", "/?f=ordinary&sort=-change", "/?sort=-score&page=2"):
        assert statements(client, url) <= 16


@pytest.mark.parametrize("sort", ["name", "score", "change", "scored", "unrated", "run"])
def test_home_sorts_by_every_column(sign_in, people, sort):
    for name, old, new in (("A", 10.0, 11.0), ("B", 10.0, 13.0), ("C", 10.0, 12.0)):
        case = make_case(people["owner"], name)
        make_run(case, old, days=1)
        run = make_run(case, new)
        Run.objects.filter(pk=run.pk).update(finished_at=timezone.now() + timezone.timedelta(hours=new))
        run.case_scores.update(scored=new, unrated=new)
    make_case(people["owner"], "D")
    client = sign_in("owner")
    order = ["A", "B", "C"] if sort == "name" else ["A", "C", "B"]
    last = [] if sort == "run" else ["D"]
    ascending = [name for name in rows_of(client.get(f"/?sort={sort}")) if name != "D" or last]
    descending = [name for name in rows_of(client.get(f"/?sort=-{sort}")) if name != "D" or last]
    assert ascending == [*order, *last]
    assert descending == (["D", *order[::-1]] if sort == "name" else [*order[::-1], *last])


def test_home_filters_by_every_word_in_case_endpoint_or_scorer(sign_in, people):
    make_run(make_case(people["owner"], "Movies"), 50.0)
    make_case(people["owner"], "Books")
    client = sign_in("owner")
    scorer = Case.objects.first().scorers.first().name
    assert rows_of(client.get("/", {"f": "films"})) == ["Movies"]
    assert sorted(rows_of(client.get("/", {"f": scorer}))) == ["Books", "Movies"]
    assert rows_of(client.get("/", {"f": f"{scorer} book"})) == ["Books"]


def test_active_cases_returns_the_rows_and_polls_on_while_one_is_active(sign_in, people):
    active, done = make_case(people["owner"], "Active"), make_case(people["owner"], "Done")
    run = make_run(active, None, status="running", queries=1000, done=412)
    make_run(done, 50.0)
    client = sign_in("owner")
    page = client.get("/").content.decode()
    assert f"/cases/active/?case={active.pk}" in page
    url = f"/cases/active/?case={active.pk}&case=x&case=99999999999999999999"
    answer = client.get(url, headers={"HX-Request": "true"}).content.decode()
    assert f'id="case-{active.pk}"' in answer
    assert 'hx-swap-oob="true"' in answer
    assert f"/cases/active/?case={active.pk}" in answer
    assert f"case-{done.pk}" not in answer
    Run.objects.filter(pk=run.pk).update(status="complete", finished_at=timezone.now())
    answer = client.get(url, headers={"HX-Request": "true"}).content.decode()
    assert "hx-get" not in answer
    assert f'id="case-{active.pk}"' in answer


def test_active_cases_hides_what_the_user_cannot_see(sign_in, people):
    case = make_case(people["owner"], "Private")
    make_run(case, None, status="running")
    assert "Private" not in sign_in("stranger").get(f"/cases/active/?case={case.pk}").content.decode()


def ratings_of(response):
    return [event for event in response.context["recent_activity"] if event.kind == "ratings"]


def rate(case, rater, count, at=None):
    """Rates `count` documents of a case, at a time in the past if one is given."""
    query = Query.objects.get(book=case.book, text="star wars")
    before = RatingChange.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    for number in range(count):
        ratings.rate(query=query, doc_id=f"{before}-{number}", value=case.book.top, by=rater)
    if at is not None:
        RatingChange.objects.filter(pk__gt=before).update(at=at)


def test_recent_activity_groups_ratings_by_sitting(sign_in, people, team):
    case = make_case(people["admin"], team=team)
    now = timezone.now()
    for minutes, count in ((200, 1), (125, 2), (100, 3), (75, 1), (5, 4)):
        rate(case, people["rater"], count, now - timezone.timedelta(minutes=minutes))
    rate(case, people["editor"], 2, now - timezone.timedelta(minutes=90))
    events = ratings_of(sign_in("viewer").get("/"))
    assert [(event.person, event.count) for event in events] == [
        ("Rater", 4),
        ("Rater", 6),
        ("Editor", 2),
        ("Rater", 1),
    ]
    assert not any(event.is_partial for event in events)


def test_recent_activity_lists_imports_by_themselves_and_no_rating_that_was_taken_back(sign_in, people, team):
    """ "Gave 625 ratings" was one rating, taken back, and the import of 623."""
    case = make_case(people["admin"], team=team)
    import_csv(case=case, text="query,docid,rating\nstar wars,1,1\nstar wars,2,1\n", by=people["editor"])
    rate(case, people["editor"], 1)
    ratings.undo(case=case, by=people["editor"])
    page = sign_in("viewer").get("/")
    assert ratings_of(page) == []
    (event,) = [event for event in page.context["recent_activity"] if event.kind == "import"]
    assert (event.person, event.count, event.case) == ("Editor", 2, case)
    assert "imported 2 ratings into the book" in compact(page.content.decode())


def test_home_lists_the_cases_of_a_team(sign_in, people, team):
    make_case(people["owner"], "Own")
    make_case(people["admin"], "Shared", team=team)
    client = sign_in("editor")
    assert rows_of(client.get(f"/?team={team.pk}")) == ["Shared"]
    page = client.get("/").content.decode()
    assert f'<option value="{team.pk}"' in compact(page)
    assert sorted(rows_of(sign_in("owner").get("/?team="))) == ["Own", "Shared"]
    assert rows_of(sign_in("owner").get("/?team=999")) == []


def test_recent_activity_counts_every_rating(sign_in, people, team):
    """5,000 was shown for an import of 13,481."""
    case = make_case(people["admin"], team=team)
    query = Query.objects.filter(book=case.book).first()
    now = timezone.now()
    changes = (
        RatingChange(
            query=query,
            doc_id=str(n),
            rater=people["rater"],
            by=people["rater"],
            new_verdict="rated",
            new_value=1,
            at=now,
        )
        for n in range(6_000)
    )
    RatingChange.objects.bulk_create(changes)
    assert [event.count for event in ratings_of(sign_in("viewer").get("/"))] == [6_000]


def test_recent_activity_says_more_than_for_a_count_it_cut_off(sign_in, people, team, monkeypatch):
    monkeypatch.setattr("relevancy.cases.activity.MAX_RATINGS_READ", 5)
    case = make_case(people["admin"], team=team)
    rate(case, people["editor"], 3, timezone.now() - timezone.timedelta(hours=2))
    rate(case, people["rater"], 4)
    page = sign_in("viewer").get("/")
    assert [(event.count, event.is_partial) for event in ratings_of(page)] == [(4, False), (1, True)]
    assert "more than 1" in compact(page.content.decode())


def test_recent_activity_names_the_book_and_hides_other_cases(sign_in, people, team):
    """Ratings appeared under a case of the same book that the rater could not see."""
    shared = make_case(people["admin"], "Shop Solr", team=team)
    hidden = cases.create(name="Shop ES", owner=people["admin"], book=shared.book)
    rate(shared, people["rater"], 1)
    (event,) = ratings_of(sign_in("viewer").get("/"))
    assert (event.book, event.case) == ("Shop Solr", shared)
    assert "Shop ES" not in sign_in("viewer").get("/").content.decode()
    assert ratings_of(sign_in("stranger").get("/")) == []
    assert hidden.book == shared.book


def test_recent_activity_leaves_archived_cases_out(sign_in, people):
    case = make_case(people["owner"], "Old")
    make_run(case, 50.0)
    cases.archive(case=case)
    assert list(sign_in("owner").get("/").context["recent_activity"]) == []


def test_recent_activity_shows_runs_with_their_change_and_nothing_of_others(sign_in, people, team):
    case = make_case(people["admin"], team=team)
    make_run(case, 40.0, days=2)
    make_run(case, 46.2, days=1)
    hidden = make_case(people["admin"], "Hidden")
    make_run(hidden, 1.0)
    events = sign_in("viewer").get("/").context["recent_activity"]
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
    assert 'aria-current="page">Cases' in page
    client.cookies["theme"] = '"><script>'
    assert "<script>" not in client.get("/").content.decode().partition("<body")[0].replace("<script ", "")
