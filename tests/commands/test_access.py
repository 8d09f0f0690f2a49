"""The permissions of commands: without `--owner` they may do everything, with it only what that user may."""

from pathlib import Path
from typing import Any

import pytest

from relevancy.models import Case, Endpoint, Role, Run, StoredIndex, User
from tests.factories import make_attempt, make_case, make_team, make_user

from .test_commands import TEMPLATE, command, refused, shop

__all__ = ["shop"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script", "data_dir")]


def create_case(shop: Path, *more: Any) -> tuple[Any, ...]:
    (shop / "q.txt").write_text("alien\n")
    return (
        "create_case",
        "New",
        "--endpoint",
        "few",
        "--template",
        shop / "template.json",
        "--queries",
        shop / "q.txt",
        *more,
    )


def test_create_case_for_an_owner_who_may_use_the_endpoint(shop: Path) -> None:
    team = make_team("Shop", Edda=Role.EDITOR)
    edda = User.objects.get(name="Edda")
    assert "Edda may not use the endpoint few" in refused(*create_case(shop, "--owner", edda.email))
    assert not Case.objects.exists()
    Endpoint.objects.get(name="few").teams.add(team)
    command(*create_case(shop, "--owner", edda.email))
    assert Case.objects.get().owner == edda


def test_evaluate_is_not_restricted_unless_an_owner_is_named(shop: Path) -> None:
    case = make_case(1)
    attempt = make_attempt(case, template=TEMPLATE)
    attempt.endpoint.owner = make_user("Else")
    attempt.endpoint.save()
    command("evaluate", case.pk)
    run = Run.objects.get()
    assert (run.status, run.created_by, run.requested_by) == ("complete", case.owner, None)
    assert "may not use the endpoint" in refused("evaluate", case.pk, "--owner", case.owner.email)
    assert Run.objects.count() == 1
    command("evaluate", case.pk, "--owner", "admin@example.com")
    assert Run.objects.first().requested_by == User.objects.get(name="Admin")


def test_create_endpoint_for_an_owner_without_the_right(shop: Path) -> None:
    owner = make_user("Sam", can_create_endpoints=False)
    command("create_endpoint", "theirs", "embedded", "new", "--owner", owner.email)
    assert Endpoint.objects.get(name="theirs").owner == owner
    assert "“few” belongs to someone else" in refused(
        "create_endpoint", "no", "embedded", "few", "--owner", owner.email
    )


def test_load_documents_for_an_owner_and_a_team(shop: Path) -> None:
    team = make_team("Shop", Edda=Role.EDITOR)
    owner = make_user("Sam")
    docs = shop / "docs.jsonl"
    command("load_documents", "embedded", "films", docs, "--owner", owner.email, "--team", "Shop")
    index = StoredIndex.objects.get(name="films")
    assert (index.owner, list(index.teams.all())) == (owner, [team])
    command("create_endpoint", "films", "embedded", "films", "--owner", User.objects.get(name="Edda").email)
    assert "“few” belongs to someone else" in refused("load_documents", "embedded", "few", docs, "--owner", owner.email)
    assert "There is no team 'Nobody'" in refused("load_documents", "embedded", "x", docs, "--team", "Nobody")
