"""Who may send requests to the endpoint of a case: those who start a run, and those in whose name it continues."""

import pytest
from django.core.exceptions import ValidationError

from relevancy import cases, endpoints, runs
from relevancy.models import Attempt, Case, Membership, Role, User
from tests.factories import make_attempt, make_case, make_endpoint, make_team, make_user, run_now, script_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture
def attempt() -> Attempt:
    """An attempt of a case that is shared with a team of one person in each role."""
    case = make_case(2)
    team = make_team("Search", Vera=Role.VIEWER, Ralf=Role.RATER, Edda=Role.EDITOR, Olga=Role.OWNER)
    cases.share(case=case, team=team)
    return make_attempt(case)


def person(name: str) -> User:
    return User.objects.get(name=name)


def mine(name: str, attempt: Attempt) -> Attempt:
    """An attempt in the person's own case on the endpoint of another case, as it was allowed once."""
    case = make_case(2, owner=person(name))
    content = {"endpoint": attempt.endpoint, "template": attempt.template, "created_by": case.owner}
    return Attempt.objects.create(case=case, number=1, **content)


@pytest.mark.parametrize("name", ["Vera", "Ralf"])
def test_start_is_not_for_viewers_and_raters(attempt: Attempt, name: str) -> None:
    with pytest.raises(runs.RunNotAllowed, match=f"{name} is not an editor of “{attempt.case}”"):
        runs.start(attempt=attempt, by=person(name))
    assert script_of(attempt).requests == []


@pytest.mark.parametrize("name", ["Edda", "Olga"])
def test_start_by_an_editor_of_the_case(attempt: Attempt, name: str) -> None:
    run = runs.finish_here(runs.start(attempt=attempt, by=person(name)))
    assert (run.status, run.requested_by) == ("complete", person(name))


def test_start_in_another_case_names_who_can_share_the_endpoint(attempt: Attempt) -> None:
    with pytest.raises(
        runs.RunNotAllowed, match=f"Edda may not use the endpoint .* {attempt.endpoint.owner}, can share"
    ):
        runs.start(attempt=mine("Edda", attempt), by=person("Edda"))
    attempt.endpoint.teams.add(Membership.objects.get(user=person("Edda")).team)
    assert runs.start(attempt=mine("Edda", attempt), by=person("Edda")).is_active


def test_start_ends_with_the_membership_of_the_endpoints_team(attempt: Attempt) -> None:
    membership = Membership.objects.get(user=person("Edda"))
    attempt.endpoint.teams.add(membership.team)
    own = mine("Edda", attempt)
    run_now(own)
    membership.delete()
    with pytest.raises(runs.RunNotAllowed, match="Edda may not use the endpoint"):
        runs.start(attempt=own, by=person("Edda"))
    with pytest.raises(runs.RunNotAllowed, match="Edda may not use the endpoint"):
        runs.complete(run=own.runs.get(), by=person("Edda"))


def test_start_unrestricted_is_for_commands(attempt: Attempt) -> None:
    own = mine("Vera", attempt)
    run = runs.finish_here(runs.start(attempt=own, by=person("Vera"), unrestricted=True))
    assert (run.status, run.created_by, run.requested_by) == ("complete", person("Vera"), None)


def test_save_only_with_an_endpoint_that_may_be_used(attempt: Attempt) -> None:
    secret = make_endpoint(make_user("Else"))
    with pytest.raises(ValidationError) as error:
        runs.attempts.save(case=attempt.case, endpoint=secret, template=attempt.template, by=person("Edda"))
    assert list(error.value.message_dict) == ["endpoint"]
    assert attempt.case.attempts.count() == 1


def test_continue_run_checks_again_who_started_it(attempt: Attempt) -> None:
    run = runs.start(attempt=attempt, by=person("Edda"))
    assert runs.continue_run(run.pk, limit=1).unfinished
    Membership.objects.get(user=person("Edda")).delete()
    assert not runs.continue_run(run.pk, limit=1).unfinished
    run.refresh_from_db()
    assert (run.status, run.done) == ("failed", 1)
    assert "Edda is not an editor" in run.reason
    assert script_of(attempt).texts == ["query 1"]


def test_continue_run_of_a_deactivated_account(attempt: Attempt) -> None:
    run = runs.start(attempt=attempt, by=person("Edda"))
    User.objects.filter(name="Edda").update(is_active=False)
    run = runs.finish_here(run)
    assert (run.status, run.done) == ("failed", 0)
    assert "deactivated" in run.reason


def test_complete_goes_on_in_the_name_of_who_completes(attempt: Attempt) -> None:
    run = runs.start(attempt=attempt, by=person("Edda"))
    runs.continue_run(run.pk, limit=1)
    runs.cancel(run=run)
    Membership.objects.get(user=person("Edda")).delete()
    run.refresh_from_db()
    run = runs.finish_here(runs.complete(run=run, by=person("Olga")))
    assert (run.status, run.created_by, run.requested_by) == ("complete", person("Edda"), person("Olga"))


@pytest.mark.parametrize("name", ["Vera", "Ralf"])
def test_single_requests_are_not_for_viewers_and_raters(attempt: Attempt, name: str) -> None:
    run = run_now(attempt)
    searches_before = len(script_of(attempt).requests)
    ranking = run.rankings.select_related("run__case", "run__attempt__endpoint").first()
    for request in (
        lambda: runs.search_again(run=run, case_query=run.case.case_queries.first(), by=person(name)),
        lambda: runs.explain(ranking, "a", by=person(name)),
        lambda: runs.look_up(ranking, [], by=person(name)),
    ):
        with pytest.raises(runs.RunNotAllowed, match="not an editor"):
            request()
    assert len(script_of(attempt).requests) == searches_before


def test_create_endpoint_needs_its_own_permission() -> None:
    team = make_team("Shop", Sam=Role.OWNER, Ed=Role.EDITOR, Rae=Role.RATER)
    User.objects.update(can_create_endpoints=False)
    values = {"engine": "embedded", "url": "films"}
    with pytest.raises(ValidationError, match="Ask an administrator"):
        endpoints.create(name="e", by=person("Sam"), **values)
    team.can_create_endpoints = True
    team.save()
    assert [endpoints.may_create(person(name)) for name in ("Sam", "Ed", "Rae")] == [True, True, False]
    endpoints.create(name="e", by=person("Sam"), **values)
    User.objects.filter(name="Rae").update(can_create_endpoints=True)
    assert endpoints.may_create(person("Rae"))


def test_create_endpoint_unrestricted_is_for_commands() -> None:
    by = make_user(can_create_endpoints=False)
    assert endpoints.create(name="e", by=by, engine="embedded", url="films", unrestricted=True).owner == by


def test_update_to_another_address_needs_the_right_to_create() -> None:
    """An editor of an endpoint must not make it lead elsewhere."""
    by = make_user(can_create_endpoints=False)
    endpoint = endpoints.create(name="e", by=by, engine="embedded", url="films", unrestricted=True)
    values = {"name": "other", "engine": "embedded", "credentials": {}, "headers": {}, "parallel": 4, "per_minute": 0}
    with pytest.raises(ValidationError) as error:
        endpoints.update(endpoint=endpoint, by=by, url="elsewhere", **values)
    assert list(error.value.message_dict) == ["url"]
    endpoints.update(endpoint=endpoint, by=by, url="films", **values)
    assert (endpoint.name, endpoint.url) == ("other", "films")


def test_case_with_a_new_endpoint_needs_the_right_to_create() -> None:
    by = make_user(can_create_endpoints=False)
    endpoint = endpoints.build_endpoint(name="e", engine="embedded", url="films", by=by)
    scorer = make_case(1).scorers.get()
    setup = cases.CaseSetup("New", scorer, endpoint, '{"query": "#$query##"}', "", ["a"])
    with pytest.raises(ValidationError, match="Ask an administrator"):
        cases.create_from_setup(setup=setup, by=by)
    assert not Case.objects.filter(name="New").exists()
