"""Endpoints of the engine in services, commands and the API."""

from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from relevancy import endpoints, runs
from relevancy.endpoints.suggestions import Fields, suggest_template
from relevancy.models import Endpoint, Policy, Run
from relevancy.models.errors import error_fields
from tests.commands.test_commands import command, refused, shop
from tests.contracts.local_server import json_reply, serving
from tests.factories import make_attempt, make_case, make_endpoint, make_user
from tests.runs.test_stop import HANG, run_at, stop_when, stopped_in
from tests.slow_server import drip_headers, hang, slow_server

__all__ = ["shop", "stop_when"]
pytestmark = pytest.mark.django_db
ADDRESS = "http://127.0.0.1:9/indexes/films/search"


@pytest.mark.parametrize(
    ("options", "template", "syntax"),
    [
        ({}, "q=#$query##", "params"),
        ({"method": "POST"}, '{"query": "#$query##"}', "json"),
        ({"method": "POST", "template": "text=#$query##&n=5"}, "text=#$query##&n=5", "params"),
        ({"method": "POST", "template": '{"a": "#$query##"}'}, '{"a": "#$query##"}', "json"),
    ],
)
def test_suggest_template_of_an_api_is_the_endpoints(options, template, syntax):
    fields = Fields("id", "title", "", ("overview",))
    assert suggest_template(engine="http", fields=fields, text_names=["title"], options=options) == template
    assert runs.attempts.syntax(Endpoint(engine="http", options=options)) == syntax


def test_create_endpoint_with_a_preset_and_options_of_ones_own(shop: Path) -> None:
    output = command(
        "create_endpoint", "films", "http", ADDRESS, "--option", "id=sku", "--option", "preset=meilisearch",
        "--option", "total=", "--option", "bearer=secret",
    )  # fmt: skip
    endpoint = Endpoint.objects.get(name="films")
    assert endpoint.options["hits"] == "hits"
    assert endpoint.options["id"] == "sku"
    assert endpoint.options["total"] == ""
    assert "preset" not in endpoint.options
    assert endpoint.credentials == {"bearer": "secret"}
    assert "Meilisearch: " in output


def test_create_endpoint_with_an_unknown_preset(shop: Path) -> None:
    message = refused("create_endpoint", "films", "http", ADDRESS, "--option", "preset=sphinx")
    assert "no preset “sphinx”. Its presets: vespa, qdrant" in message
    assert "It has none" in refused("create_endpoint", "a", "solr", ADDRESS, "--option", "preset=vespa")
    assert not Endpoint.objects.filter(engine="http").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["http://127.0.0.1:1/", "--option", "hitz=a"], "There is no 'hitz' here. Did you mean hits?"),
        (["http://127.0.0.1:1/find"], "The option hits: the expression for the list of hits is missing"),
        (["http://127.0.0.1:1/find", "--option", "hits=a["], "The option hits: column 3"),
    ],
)
def test_create_endpoint_refuses(shop: Path, words: list[str], message: str) -> None:
    assert message in refused("create_endpoint", "x", "http", *words)
    assert Endpoint.objects.count() == 1


def test_create_endpoint_of_an_api(shop: Path) -> None:
    answer = json_reply({"found": [{"id": 1, "title": "A"}]})
    with serving(lambda request: answer) as server:
        output = command(
            "create_endpoint", "api", "http", f"{server.url}/find", "--option", "hits=found", "--option", "method=POST",
            "--option", 'template={"text": "#$query##"}', "--option", 'total="5"', "--option", "query_options={}",
        )  # fmt: skip
    assert output == "Endpoint api created.\n"  # its total is not a number, which is reported on stderr
    endpoint = Endpoint.objects.get(name="api")
    assert endpoint.options == {
        "hits": "found", "method": "POST", "template": '{"text": "#$query##"}', "total": '"5"', "query_options": {},
    }  # fmt: skip
    with serving(lambda request: answer) as server:
        output = command(
            "create_endpoint",
            "other",
            "http",
            server.url,
            "--option",
            "hits=found",
            "--option",
            "template=q=#$query##",
        )
    assert output == "Endpoint other created.\nConnected to HTTP API. 2 fields: id, title.\n"


def test_nothing_is_added_to_a_run_after_a_change_of_the_mapping() -> None:
    case = make_case(1)
    options = {"hits": "items", "test_query": "shoe", "query_options": {"lang": "en"}}
    endpoint = make_endpoint(case.owner, engine="http", url="http://127.0.0.1:1/find", options=options)
    run = runs.start(attempt=make_attempt(case, endpoint, template="q=#$query##"), by=case.owner)
    assert run.config["mapping"] == {"hits": "items"}
    for changes, is_changed in (({"test_query": "hat"}, False), ({"hits": "rows"}, True)):
        endpoint.options |= changes
        endpoint.save()
        run = Run.objects.select_related("attempt__endpoint").get(pk=run.pk)
        assert bool(runs.endpoint_changed(run)) == is_changed
    assert "reads responses in another way" in runs.endpoint_changed(run)
    run.config.pop("mapping")  # a run of before
    assert not runs.endpoint_changed(run)


@pytest.mark.parametrize("behaviour", [hang, drip_headers(0.05)], ids=["hang", "drip"])
def test_stop_while_the_api_is_asked_for_its_version(stop_when: Any, behaviour: Any) -> None:
    with slow_server(behaviour) as server:
        stop_when(server.connected)
        run = run_at("http", f"{server.url}/films", hits="@")
        seconds = stopped_in(run)
    assert (run.status, run.done, run.failed, run.parts.count()) == ("cancelled", 0, 0, 0)
    assert seconds < HANG / 6


def test_update_checks_a_script_that_was_stored_under_another_engine() -> None:
    owner = make_user()
    owner.can_create_endpoints = True
    Policy.objects.update_or_create(pk=1, defaults={"allow_user_scripts": False})
    url, options = "http://127.0.0.1:9/solr/shop", {"mapper": "docsMapper = d => d"}
    endpoint = endpoints.create(name="shop", engine="solr", url=url, options={}, by=owner)
    Endpoint.objects.update(options=options)
    endpoint.refresh_from_db()
    with pytest.raises(ValidationError) as refused:
        endpoints.update(endpoint=endpoint, by=owner, engine="http", url="http://127.0.0.1:9/find")
    assert error_fields(refused.value) == ["option_mapper"]


def test_update_checks_the_script_of_an_endpoint_that_came_with_a_file() -> None:
    owner = make_user()
    owner.can_create_endpoints = True
    options = {"mapper": "docsMapper = d => d"}
    endpoint = endpoints.create_archived(name="shop", engine="http", options=options, by=owner)
    Policy.objects.update_or_create(pk=1, defaults={"allow_user_scripts": False})
    with pytest.raises(ValidationError) as refused:
        endpoints.update(endpoint=endpoint, by=owner, url="http://127.0.0.1:9/find")
    assert error_fields(refused.value) == ["option_mapper"]
    Policy.objects.update(allow_user_scripts=True)
    endpoints.update(endpoint=endpoint, by=owner, url="http://127.0.0.1:9/find")
    Policy.objects.update(allow_user_scripts=False)
    endpoints.update(endpoint=endpoint, by=owner, parallel=3)
