"""Autocompletion of field names and template words."""

from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from relevancy import engines, queries
from relevancy.endpoints import autocomplete
from relevancy.models import Endpoint
from tests.factories import ScriptedEngine, make_attempt, make_case, make_endpoint, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    cache.clear()


@pytest.fixture
def responses(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the scripted engine returns as its fields, one item per call; raises an item that is an error."""
    queue: list[Any] = []

    def fields(self: Any) -> list[str]:
        response = queue.pop(0)
        if isinstance(response, Exception):
            raise response
        return list(response)

    monkeypatch.setattr(ScriptedEngine, "fields", fields)
    return queue


def test_fields_are_cached(responses: list[Any]) -> None:
    endpoint = make_endpoint(make_user())
    responses += [["id", "title"]]
    assert autocomplete.fields(endpoint).names == ("id", "title")
    assert autocomplete.fields(Endpoint.objects.get()).names == ("id", "title")


@pytest.mark.parametrize(
    "change", [{"url": "elsewhere"}, {"options": {"x": 1}}, {"credentials": {"bearer": "x"}}, {"headers": {"a": "b"}}]
)
def test_fields_are_requested_again_if_the_endpoint_changes(responses: list[Any], change: dict[str, Any]) -> None:
    endpoint = make_endpoint(make_user())
    responses += [["id"], ["id", "new"]]
    autocomplete.fields(endpoint)
    for name, value in change.items():
        setattr(endpoint, name, value)
    endpoint.save()
    assert autocomplete.fields(Endpoint.objects.get()).names == ("id", "new")


def test_fields_are_cached_for_each_endpoint(responses: list[Any]) -> None:
    owner = make_user()
    responses += [["a"], ["b"]]
    assert autocomplete.fields(make_endpoint(owner, url="same")).names == ("a",)
    assert autocomplete.fields(make_endpoint(owner, url="same")).names == ("b",)


def test_fields_of_an_engine_that_is_down(responses: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = make_endpoint(make_user())
    cached_seconds: list[float] = []
    original = cache.set
    monkeypatch.setattr(
        autocomplete.cache,
        "set",
        lambda key, value, seconds: cached_seconds.append(seconds) or original(key, value, seconds),
    )
    responses += [engines.EndpointUnreachable("Nothing answers."), ["id"]]
    result = autocomplete.fields(endpoint)
    assert (result.names, result.reason) == ((), "Nothing answers.")
    assert autocomplete.fields(endpoint) == result
    assert cached_seconds == [autocomplete.ERROR_CACHE_SECONDS]
    cache.clear()
    assert autocomplete.fields(endpoint).names == ("id",)


def test_fields_without_readable_secrets(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    endpoint = make_endpoint(make_user(), credentials={"bearer": "x"})
    settings.CREDENTIALS_KEYS = ["kYQqIYtVxJ2Q2J1bq2yY6a0wN6bqg8g3Qw0m9oQ3l0A="]
    result = autocomplete.fields(Endpoint.objects.defer("credentials", "headers").get(pk=endpoint.pk))
    assert result.names == ()
    assert "was not contacted" in result.reason


def test_typed_fields() -> None:
    result = autocomplete.typed_fields(autocomplete.FieldNames(("id", "name")))
    assert result[:4] == ["id", "name", "id:id", "id:name"]
    assert "thumb:name" in result
    assert autocomplete.typed_fields(autocomplete.FieldNames()) == []
    for spec in result:
        engines.parse_fields(spec)


def test_template_vocabulary() -> None:
    case = make_case(["a", "b", "c"])
    case.options = {"site": {"lang": "en"}}
    case.save()
    endpoint = make_endpoint(case.owner, options={"query_options": {"shop": 1, "not a name": 2}})
    for text, options in (("a", '{"lang": "en"}'), ("b", '{"lang": "de", "deep": {"er": [1]}}')):
        queries.edit(case_query=case.case_queries.get(query__text=text), text=text, options=options)
    make_attempt(case, endpoint, template='{"query": "#$query##", "boost": ##boost##}')
    with CaptureQueriesContext(connection) as captured:
        result = autocomplete.template_vocabulary(case, endpoint)
    assert len(captured) == 2
    assert result.placeholders[:2] == ("#$query##", "#$keyword1##")
    assert [word for word in result.placeholders if "qOption" in word] == [
        f"#$qOption.{path}##"
        for path in ("deep", "deep.er", "lang", "shop", "site", "site.lang", "information_need", "reference_answer")
    ]
    assert result.knobs == ("##boost##",)
    assert result.words == ()
    for word in (*result.placeholders, *result.knobs):
        engines.parse_template(f'{{"x": "{word}"}}', "json")


def test_template_vocabulary_without_removed_queries() -> None:
    case = make_case(["a"])
    case_query = case.case_queries.get()
    queries.edit(case_query=case_query, text="a", options='{"lang": "en"}')
    queries.remove(case_query=case_query)
    assert not any(
        "lang" in word for word in autocomplete.template_vocabulary(case, make_endpoint(case.owner)).placeholders
    )


@pytest.mark.parametrize(
    ("engine", "expected"),
    [
        ("solr", {"defType", "qf", "mm"}),
        ("elasticsearch", {"multi_match", "function_score", "tie_breaker"}),
        ("opensearch", {"multi_match", "hybrid"}),
        ("embedded", {"fields", "tie"}),
        ("static", set()),
        ("uninstalled", set()),
    ],
)
def test_template_vocabulary_of_engines(engine: str, expected: set[str]) -> None:
    case = make_case(1)
    result = autocomplete.template_vocabulary(case, Endpoint(engine=engine, owner=case.owner)).words
    assert expected <= set(result)
    assert len(result) == len(set(result))
    assert bool(result) == bool(expected)
