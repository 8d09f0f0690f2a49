"""The pages of preference tests: blind for raters, the result for those who can see the runs."""

import re

import pytest
from django.urls import reverse

from relevancy import cases
from relevancy.models import Role, Run, Team, User
from relevancy.optional.preferences import preferences
from relevancy.optional.preferences.models import Preference, PreferenceTest
from tests.factories import make_attempt, make_case, run_now, script_of, set_hits
from tests.views.workbench.example_cases import HTMX, make_workbench_case

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(people, team, script):
    """Three queries with two runs; the second one returns the documents in reverse."""
    case = make_workbench_case(people, team, 3, {"query 1": {"a": 3}})
    attempt = make_attempt(case, name="Reversed")
    script_of(attempt).default = ["c", "b", "a"]
    run_now(attempt)
    return case


@pytest.fixture
def preference_test(case):
    before, after = Run.objects.filter(case=case).order_by("number")
    preferences.start_preference_test(a=before, b=after, queries=50, by=case.owner)
    PreferenceTest.objects.update(seed=7)
    return PreferenceTest.objects.get()


def url(case, name="preference", test=None):
    return reverse(name, args=[case.book_id, *([test.pk] if test else [])])


def choose(client, case, test, side="left", **changes):
    lists = client.get(url(case, test=test)).context["lists"]
    data = {"query": lists.query.pk, "side": side, "key": lists.key, **changes}
    return client.post(url(case, "preference_choose", test), data)


def test_comparison_leads_to_the_form_which_starts_a_test(sign_in, case):
    client = sign_in("editor")
    client.get(reverse("compare", args=[case.pk]))  # the worker of the tests computes at once
    page = client.get(reverse("compare", args=[case.pk]), {"tab": "raters"}).content.decode()
    assert "Raters have not compared the lists of these runs." in page
    address = re.search(r'id="preference-new-link"\s+href="([^"]+)"', page).group(1).replace("&amp;", "&")
    before, after = Run.objects.filter(case=case).order_by("number")
    page = client.get(address).content.decode()
    assert "Run 1" in page
    assert "Run 2" in page
    response = client.post(reverse("preference_new", args=[case.pk]), {"a": before.pk, "b": after.pk, "queries": "50"})
    test = PreferenceTest.objects.get()
    assert (test.run_a, test.run_b, test.created_by.name) == (before, after, "Editor")
    assert response.url == url(case, "preference_result", test)
    assert client.get(address).url == response.url


def test_form_says_what_is_wrong(sign_in, case):
    before, after = Run.objects.filter(case=case).order_by("number")
    data = {"a": before.pk, "b": after.pk, "queries": "1"}
    response = sign_in("editor").post(reverse("preference_new", args=[case.pk]), data)
    assert response.status_code == 422
    assert not PreferenceTest.objects.exists()


def test_a_run_of_a_case_that_one_may_not_edit_is_not_pinned(sign_in, people, case):
    """Its case is shared with another team, in which the editor is a viewer."""
    other = make_case(["another"], owner=people["admin"], book_of=case)
    run = run_now(make_attempt(other))
    team = Team.objects.create(name="Partners")
    team.memberships.create(user=people["editor"], role=Role.VIEWER)
    cases.share(case=other, team=team)
    data = {"a": Run.objects.filter(case=case).first().pk, "b": run.pk, "queries": "50"}
    assert sign_in("editor").post(reverse("preference_new", args=[case.pk]), data).status_code == 403
    assert not Run.objects.exclude(pinned_at=None).exists()


def test_raters_see_two_lists_and_nothing_that_names_a_run(sign_in, case, preference_test):
    client = sign_in("rater")
    page = client.get(url(case, test=preference_test)).content.decode()
    assert page.count("data-side=") == 2
    assert not re.search(r"Run \d|Reversed|attempt|grade", page.partition("<main")[2])
    listed = client.get(url(case, "preferences")).content.decode()
    assert "Run 1" not in listed
    assert "Reversed" not in listed
    assert url(case, test=preference_test) in listed
    assert url(case, "preferences") in client.get(reverse("judge", args=[case.book_id])).content.decode()


def test_answers_lead_through_all_queries(sign_in, people, case, preference_test):
    client = sign_in("rater")
    for left in (2, 1, 0):
        assert choose(client, case, preference_test, "right").url == url(case, test=preference_test)
        page = client.get(url(case, test=preference_test)).content.decode()
        assert f'data-left="{left}"' in page
    assert "You have compared all lists" in page
    assert Preference.objects.filter(rater=people["rater"]).count() == 3


def test_undo_shows_the_lists_again(sign_in, case, preference_test):
    client = sign_in("rater")
    choose(client, case, preference_test)
    undo = url(case, "preference_undo", preference_test)
    query_id = Preference.objects.get().test_query.query_id
    assert client.post(undo).url == f"{url(case, test=preference_test)}?query={query_id}"
    assert client.post(undo).url == url(case, test=preference_test)
    assert not Preference.objects.standing().exists()


def test_back_shows_the_answer(sign_in, case, preference_test):
    client = sign_in("rater")
    choose(client, case, preference_test, "right")
    back = client.get(url(case, test=preference_test)).context["last_query_id"]
    page = client.get(url(case, test=preference_test), {"query": back}).content.decode()
    assert re.search(r'value="right"[^>]*aria-pressed="true"', page)
    assert page.count('aria-pressed="true"') == 1


@pytest.mark.parametrize(
    "changes", [{"side": "up"}, {"side": ""}, {"query": "0"}, {"query": "999999"}, {"key": "other"}, {"key": "x" * 17}]
)
def test_bad_input_is_refused_with_a_message(sign_in, case, preference_test, changes):
    client = sign_in("rater")
    lists = client.get(url(case, test=preference_test)).context["lists"]
    data = {"query": lists.query.pk, "side": "left", "key": lists.key, **changes}
    response = client.post(url(case, "preference_choose", preference_test), data, headers=HTMX)
    assert (response.status_code, response["Content-Type"]) == (409, "text/plain; charset=utf-8")
    assert not Preference.objects.exists()


def test_result_names_the_runs_and_counts(sign_in, people, case, preference_test):
    client = sign_in("rater")
    for _ in range(3):
        lists = client.get(url(case, test=preference_test)).context["lists"]
        choose(client, case, preference_test, "left" if lists.is_swapped else "right")  # always the second run
    response = client.get(url(case, "preference_result", preference_test))
    page = response.content.decode()
    assert response.context["result"].sign.wins == 3
    assert page.count('data-outcome="b"') == 3
    assert "at least 3 more are needed" in page
    assert "Run 1 and Run 2" in page


def test_result_is_for_those_who_can_see_the_runs(client, case, preference_test):
    """Who may only judge the book sees its tests, and not which runs they compare."""
    judge_only = User.objects.create_user("judge@example.org", name="Judge")
    team = Team.objects.create(name="Judges")
    team.memberships.create(user=judge_only, role=Role.RATER)
    case.book.teams.add(team)
    client.force_login(judge_only)
    assert client.get(url(case, test=preference_test)).status_code == 200
    assert url(case, "preference_result", preference_test) not in client.get(url(case, "preferences")).content.decode()
    assert client.get(url(case, "preference_result", preference_test)).status_code == 404


def test_closing_ends_a_test_and_opening_continues_it(sign_in, case, preference_test):
    client = sign_in("editor")
    client.post(url(case, "preference_close", preference_test), {"do": "close"})
    assert "This test is closed" in client.get(url(case, test=preference_test)).content.decode()
    client.post(url(case, "preference_close", preference_test), {"do": "open"})
    assert client.get(url(case, test=preference_test)).context["lists"] is not None


def test_form_says_how_many_lists_differ_before_and_the_result_after(sign_in, case):
    before, after = Run.objects.filter(case=case).order_by("number")
    same = after.rankings.first()
    same.hits = before.rankings.get(query=same.query_id).hits
    set_hits([same])
    client = sign_in("editor")
    new = reverse("preference_new", args=[case.pk])
    page = client.get(new, {"a": before.pk, "b": after.pk})
    assert page.context["form"]["queries"].value() == 2
    sentence = "3 queries drawn at random: 1 has the same first 10 results in both runs, raters see the other 2."
    assert sentence in page.content.decode()
    page = client.post(new, {"a": before.pk, "b": after.pk, "queries": "30"}, follow=True)
    assert page.content.decode().count(sentence) == 2  # in the message and in the result


def test_comparison_shows_what_raters_prefer_and_how_far_they_are(sign_in, case, preference_test):
    compare = reverse("compare", args=[case.pk])
    assert 'id="preference-new-link"' not in sign_in("editor").get(compare).content.decode()
    client = sign_in("rater")
    for done in range(3):
        page = client.get(compare).content.decode()
        assert f"{done} of 3 queries have an answer so far" in page
        assert url(case, "preference_result", preference_test) not in page  # nothing that leads raters
        lists = client.get(url(case, test=preference_test)).context["lists"]
        choose(client, case, preference_test, "left" if lists.is_swapped else "right")
    for tab in ("figures", "raters"):  # below the verdict, and in its tab as well
        page = sign_in("editor").get(compare, {"tab": tab}).content.decode()
        assert url(case, "preference_result", preference_test) in page
        assert page.count("at least 3 more are needed") == (2 if tab == "raters" else 1)
    preferences.set_preference_test_closed(test=preference_test, is_closed=True, by=case.owner)
    assert "The test is closed: 3 of 3 queries have an answer." in sign_in("rater").get(compare).content.decode()


def test_pages_lead_to_the_next_step(sign_in, case):
    before, after = Run.objects.filter(case=case).order_by("number")
    assert list(sign_in("rater").get(url(case, "preferences")).context["cases"]) == []
    client = sign_in("editor")
    empty = client.get(url(case, "preferences"))
    assert reverse("compare", args=[case.pk]) in empty.content.decode()
    page = client.get(reverse("preference_new", args=[case.pk]), {"a": before.pk, "b": after.pk}).content.decode()
    assert re.search(r'<a[^>]*compare/"[^>]*aria-current', page)  # below the tab of the comparison
    preferences.start_preference_test(a=before, b=after, queries=50, by=case.owner)
    test = PreferenceTest.objects.get()
    assert client.get(url(case, "preferences")).context["next_id"] == test.pk
    rater = sign_in("rater")
    for _ in range(3):
        choose(rater, case, test)
    assert rater.get(url(case, "preferences")).context["next_id"] is None
