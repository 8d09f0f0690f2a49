"""The release gate in the API says what `evaluate` says."""

import json
from xml.etree import ElementTree

import pytest

from relevancy.models import Run
from tests.commands.test_commands import command
from tests.factories import make_attempt, make_case, make_user, run_now, script_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
GOOD, BAD = ["a", "b", "c"], ["x", "y", "z"]


def make_runs(queries):
    """The client of the owner of a case, a good run, and a bad one."""
    case = make_case(
        queries, {f"query {number}": {"a": 3, "x": 0} for number in range(1, queries + 1)}, owner=make_user()
    )
    attempt = make_attempt(case)
    runs = []
    for documents in (GOOD, BAD):
        script_of(attempt).default = documents
        runs.append(run_now(attempt))
    return case.owner, runs


def test_a_drop_does_not_pass(api):
    owner, (good, bad) = make_runs(12)
    client = api(owner)
    gate = client.get(f"/runs/{bad.pk}/gate?baseline={good.pk}&max_drop=1")
    assert (gate["passed"], gate["dropped"], gate["too_few"], gate["error"]) == (False, True, False, "")
    (scorer,) = gate["comparison"]["scorers"]
    assert (scorer["difference"], scorer["dropped"], scorer["queries"]) == (pytest.approx(-100), True, 12)
    assert [check["passed"] for check in gate["checks"]] == [True, False]
    reverse = client.get(f"/runs/{good.pk}/gate?baseline={bad.pk}")
    assert (reverse["passed"], reverse["dropped"]) == (True, False)
    assert client.get(f"/runs/{good.pk}/gate?fail_under=99")["passed"] is True
    assert client.get(f"/runs/{bad.pk}/gate?fail_under=99")["passed"] is False


def test_the_same_verdict_as_of_the_command(api, tmp_path):
    owner, (good, bad) = make_runs(12)
    path = tmp_path / "result.json"
    command("evaluate", str(good.case_id), "--baseline", str(bad.pk), "--json", str(path))
    evaluation = json.loads(path.read_text())
    gate = api(owner).get(f"/runs/{evaluation['run']}/gate?baseline={bad.pk}")
    assert gate["comparison"] == evaluation["comparison"]
    assert gate["passed"] == evaluation["passed"]
    assert gate["scorers"] == [
        {name: value for name, value in scorer.items() if name != "per_query"} for scorer in evaluation["scorers"]
    ]


def test_too_few_queries_fail_only_if_that_is_asked_for(api):
    owner, (good, bad) = make_runs(3)
    path = f"/runs/{bad.pk}/gate?baseline={good.pk}"
    gate = api(owner).get(path)
    assert (gate["passed"], gate["dropped"], gate["too_few"]) == (True, False, True)
    strict = api(owner).get(f"{path}&strict=true")
    assert (strict["passed"], strict["dropped"]) == (False, False)
    assert "too few queries to tell" in strict["checks"][-1]["message"]


def test_junit(api):
    owner, (good, bad) = make_runs(12)
    response = api(owner).send("GET", f"/runs/{bad.pk}/gate/junit?baseline={good.pk}")
    assert response.headers["Content-Type"] == "application/xml"
    suite = ElementTree.fromstring(response.content)
    assert (suite.attrib["tests"], suite.attrib["failures"], suite.attrib["errors"]) == ("2", "1", "0")


def test_a_run_that_is_not_ended_and_one_that_has_failed(api):
    owner, (good, bad) = make_runs(3)
    Run.objects.filter(pk=bad.pk).update(status="running")
    for path in ("gate", "gate/junit"):
        assert api(owner).send("GET", f"/runs/{bad.pk}/{path}").status_code == 202
    Run.objects.filter(pk=bad.pk).update(status="incomplete", reason="1 search failed.")
    gate = api(owner).get(f"/runs/{bad.pk}/gate?baseline={good.pk}")
    assert (gate["passed"], gate["dropped"]) == (False, False)
    assert "1 search failed." in gate["error"]


def test_runs_and_scorers_of_others_are_not_found(api):
    owner, (_, bad) = make_runs(3)
    _, (foreign, _) = make_runs(3)
    client = api(owner)
    assert client.send("GET", f"/runs/{bad.pk}/gate?baseline={foreign.pk}").status_code == 404
    assert client.send("GET", f"/runs/{bad.pk}/gate?scorer=999999").status_code == 404
    for wrong in ("alpha=0", "max_drop=-1", "max_drop=nan", "fail_under=101", "basline=1"):
        assert client.send("GET", f"/runs/{bad.pk}/gate?{wrong}").status_code == 422
