"""The page of a group's schedule."""

import pytest
from django.urls import reverse

from relevancy import cases
from relevancy.optional.groups import groups
from relevancy.optional.schedules import starting
from relevancy.optional.schedules.models import Schedule, ScheduledCheck
from tests.factories import make_attempt, make_case, script_of
from tests.views.workbench.example_cases import by_id, elements, tree, words

SETTINGS = {"cron": "0 2 * * *", "time_zone": "UTC", "is_active": "on", "max_drop": "1"}


@pytest.fixture
def group(people, team, script):
    group = groups.create(name="Markets", by=people["admin"], teams=[team])
    case = make_case(3, {"query 1": {"a": 3}}, owner=people["admin"])
    script_of(make_attempt(case)).default = ["a"]
    cases.share(case=case, team=team)
    groups.add_case(group=group, case=case)
    return group


def test_saved_from_the_page_of_the_group_and_checked_by_the_worker(sign_in, people, group):
    client = sign_in("admin")
    assert by_id(tree(client.get(reverse("group", args=[group.pk]))), "group-schedule-link") is not None
    saved = client.post(reverse("group_schedule_save", args=[group.pk]), SETTINGS)
    assert saved.status_code == 302
    schedule = Schedule.objects.get(group=group)
    assert (schedule.max_drop, schedule.author) == (1, people["admin"])
    page = tree(client.get(saved.url))
    assert "The schedule has not been due yet." in words(by_id(page, "checks"))
    check, _ = starting.start(schedule)
    ScheduledCheck.objects.filter(pk=check.pk).update(status="passed", message="Nothing fell.")
    page = tree(client.get(saved.url))
    assert "Nothing fell." in words(by_id(page, "checks"))
    client.post(reverse("group_schedule_remove", args=[group.pk]))
    assert not Schedule.objects.exists()
    assert ScheduledCheck.objects.exists()


def test_mistakes_are_shown_in_the_form(sign_in, group):
    client = sign_in("admin")
    bad = client.post(reverse("group_schedule_save", args=[group.pk]), {**SETTINGS, "cron": "* * * * *"})
    assert bad.status_code == 422
    assert "at least 10 minutes" in words(tree(bad))


def test_viewers_see_checks_only_of_cases_that_they_see(sign_in, group):
    hidden = ScheduledCheck.objects.create(group=group, status="failed", message="A secret name")
    hidden.runs.create(case=group.cases.get())
    client = sign_in("viewer")
    url = reverse("group_schedule", args=[group.pk])
    page = tree(client.get(url))
    assert "A secret name" in words(page)
    assert not elements(page, _name="form", action=reverse("group_schedule_save", args=[group.pk]))
    group.cases.get().teams.clear()
    page = tree(client.get(url))
    assert "A secret name" not in words(page)
    assert "not shared with you" in words(page)
