"""Schedules of cases and groups, and what their runs showed."""

import pytest

from relevancy.models import Role
from relevancy.optional.groups import groups
from relevancy.optional.schedules.models import Schedule, ScheduledCheck
from tests.factories import make_attempt, make_case, make_team, make_user, run_now

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture
def case():
    case = make_case(2, {"query 1": {"a": 3}})
    run_now(make_attempt(case))
    return case


@pytest.fixture
def group(case):
    group = groups.create(name="Markets", by=case.owner)
    groups.add_case(group=group, case=case)
    return group


@pytest.fixture
def client(api, case):
    return api(case.owner)


def test_checks_of_a_case(client, case):
    run = case.runs.get()
    check = ScheduledCheck.objects.create(case=case, status="dropped", message="nDCG@10 fell.")
    check.runs.create(case=case, run=run)
    ScheduledCheck.objects.create(case=case).runs.create(case=case)
    waiting, dropped = client.items(f"/cases/{case.pk}/schedule/checks", limit=1)
    assert (waiting["status"], waiting["run_id"], waiting["message"], waiting["finished_at"]) == (
        "waiting",
        None,
        "",
        None,
    )
    assert (dropped["status"], dropped["run_id"], dropped["message"]) == ("dropped", run.pk, "nDCG@10 fell.")


def test_schedule_of_a_group(client, case, group):
    path = f"/groups/{group.pk}/schedule"
    assert client.send("GET", path).status_code == 404
    check = ScheduledCheck.objects.create(group=group, status="passed")
    check.runs.create(case=case, run=case.runs.get())
    wanted = {
        "cron": "0 2 * * 1-5",
        "time_zone": "Europe/Berlin",
        "active": True,
        "baseline_check_id": check.pk,
        "max_drop": 1.5,
        "recipients": [case.owner.email],
        "webhook_url": "http://127.0.0.1:9/hook",
    }
    saved = client.send("PUT", path, wanted).json()
    assert saved.items() >= wanted.items()
    assert saved.pop("webhook_key") == Schedule.objects.get(group=group).webhook_secret["key"]
    assert client.get(path) == saved
    assert client.send("PUT", path, wanted).json() == {**saved, "webhook_key": None}
    for _ in range(2):
        assert client.send("DELETE", path).status_code == 204
    assert client.send("GET", path).status_code == 404


def test_schedules_of_groups_that_are_refused(client, api, case, group):
    path = f"/groups/{group.pk}/schedule"
    waiting = ScheduledCheck.objects.create(group=group)
    elsewhere = groups.create(name="Elsewhere", by=case.owner).scheduled_checks.create(status="passed")
    wrong = {
        "cron": ["* * * * *", "never"],
        "baseline_check_id": [waiting.pk, elsewhere.pk, 0],
        "recipients": [[make_user("stranger").email]],
        "webhook_url": ["ftp://example.com"],
    }
    for field, values in wrong.items():
        for value in values:
            refused = client.send("PUT", path, {"cron": "0 2 * * *", field: value})
            assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, field), value
    editor = make_user("editor")
    group.teams.add(make_team(editor=Role.EDITOR))  # who sees the group and none of its cases
    refused = api(editor).send("PUT", path, {"cron": "0 2 * * *"})
    assert (refused.status_code, "You are not an editor of 1 case" in refused.json()["detail"]) == (422, True)
    assert not Schedule.objects.filter(group=group).exists()


def test_checks_of_a_group_name_no_hidden_case(client, api, case, group):
    run = case.runs.get()
    check = ScheduledCheck.objects.create(group=group, status="failed", message="Movies: no scorer.")
    check.runs.create(case=case, run=run, problem="Nothing to run.")
    path = f"/groups/{group.pk}/schedule/checks"
    (shown,) = client.items(path)
    expected = [{"case_id": case.pk, "run_id": run.pk, "baseline_id": None, "problem": "Nothing to run."}]
    assert (shown["message"], shown["runs"]) == ("Movies: no scorer.", expected)
    viewer = make_user("viewer")
    group.teams.add(make_team(viewer=Role.VIEWER))
    (hidden,) = api(viewer).items(path)
    assert hidden == {**shown, "message": None, "runs": None}


def test_test_messages(client, case, group):
    for path in (f"/cases/{case.pk}/schedule", f"/groups/{group.pk}/schedule"):
        assert client.send("POST", f"{path}/test").status_code == 404
        client.send("PUT", path, {"cron": "0 2 * * *"})
        refused = client.send("POST", f"{path}/test")
        assert refused.status_code == 422
        assert "tells nobody" in refused.json()["detail"]
        client.send("PUT", path, {"cron": "0 2 * * *", "recipients": [case.owner.email]})
        error = "No mail server is set (RELEVANCY_MAIL_HOST)."
        assert client.send("POST", f"{path}/test").json() == [{"to": case.owner.email, "error": error}]
    assert not ScheduledCheck.objects.exists()


def test_schedule_of_a_case(client, case):
    baseline = case.runs.get()
    path = f"/cases/{case.pk}/schedule"
    assert client.send("GET", path).status_code == 404
    wanted = {
        "cron": "0 2 * * 1-5",
        "time_zone": "Europe/Berlin",
        "active": True,
        "attempt": 1,
        "baseline_id": baseline.pk,
        "max_drop": 1.5,
        "recipients": [case.owner.email],
        "webhook_url": "http://127.0.0.1:9/hook",
    }
    saved = client.send("PUT", path, wanted).json()
    assert saved.items() >= wanted.items()
    assert saved["next_at"]
    key = saved.pop("webhook_key")
    assert key == Schedule.objects.get(case=case).webhook_secret["key"]
    assert client.get(path) == saved
    assert client.send("PUT", path, wanted).json() == {**saved, "webhook_key": None}
    assert Schedule.objects.get(case=case).webhook_secret["key"] == key
    replaced = client.send("PUT", path, {"cron": "0 3 * * *", "active": False}).json()
    assert (replaced["next_at"], replaced["attempt"], replaced["recipients"]) == (None, None, [])
    assert (replaced["webhook_url"], replaced["webhook_key"], replaced["time_zone"]) == ("", None, "UTC")
    for _ in range(2):
        assert client.send("DELETE", path).status_code == 204
    assert client.send("GET", path).status_code == 404


def test_schedules_that_are_refused(client, api, case):
    elsewhere = run_now(make_attempt(make_case(1, owner=case.owner)))
    path = f"/cases/{case.pk}/schedule"
    wrong = {
        "cron": ["* * * * *", "never", "\ud800"],
        "time_zone": ["Europe/Nowhere", "../etc"],
        "attempt": [7],
        "baseline_id": [elsewhere.pk],
        "max_drop": [-1, 101],
        "recipients": [[make_user("stranger").email], ["\x00"]],
        "webhook_url": ["http://169.254.169.254/latest", "ftp://example.com", "http://[", "\ud800"],
    }
    for field, values in wrong.items():
        for value in values:
            refused = client.send("PUT", path, {"cron": "0 2 * * *", field: value})
            assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, field), value
    assert not Schedule.objects.exists()
    viewer = make_user("viewer")
    client.send("PUT", path, {"cron": "0 2 * * *"})
    case.teams.add(make_team(viewer=Role.VIEWER))
    assert api(viewer).send("GET", path).status_code == 403  # as on the page


def test_a_schedule_that_does_not_exist(client, case):
    path = f"/cases/{case.pk}/schedule"
    etag = client.send("PUT", path, {"cron": "0 2 * * *"}).headers["ETag"]
    client.send("DELETE", path)
    for sent in (etag, "*"):
        assert client.send("PUT", path, {"cron": "0 3 * * *"}, **{"If-Match": sent}).status_code == 412
    assert client.send("GET", path).status_code == 404
    assert client.send("DELETE", path, **{"If-Match": etag}).status_code == 204


def test_unknown_name_is_refused_with_the_nearest(client, case):
    sent = {"cron": "0 2 * * *", "webhook": "https://a.example/"}
    refused = client.send("PUT", f"/cases/{case.pk}/schedule", sent)
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "webhook")
    assert "webhook_url" in refused.json()["detail"]
    assert not Schedule.objects.exists()
