"""What is offered while somebody types."""

from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from relevancy import cases, engines
from relevancy.cases import completions
from relevancy.models import Endpoint
from tests.factories import ScriptedEngine, make_attempt, make_case, make_endpoint, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture(autouse=True)
def _nothing_known() -> None:
    cache.clear()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the scripted engine says of its fields, in turn; an error is raised."""
    said: list[Any] = []

    def fields(self: Any) -> list[str]:
        answer = said.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return list(answer)

    monkeypatch.setattr(ScriptedEngine, "fields", fields)
    return said


def test_fields_are_asked_once(asked: list[Any]) -> None:
    endpoint = make_endpoint(make_user())
    asked += [["id", "title"]]
    assert completions.fields(endpoint).names == ("id", "title")
    assert completions.fields(Endpoint.objects.get()).names == ("id", "title")


@pytest.mark.parametrize(
    "change", [{"url": "elsewhere"}, {"options": {"x": 1}}, {"credentials": {"bearer": "x"}}, {"headers": {"a": "b"}}]
)
def test_fields_are_asked_anew_of_another_engine(asked: list[Any], change: dict[str, Any]) -> None:
    endpoint = make_endpoint(make_user())
    asked += [["id"], ["id", "new"]]
    completions.fields(endpoint)
    for name, value in change.items():
        setattr(endpoint, name, value)
    endpoint.save()
    assert completions.fields(Endpoint.objects.get()).names == ("id", "new")


def test_fields_of_one_endpoint_are_not_those_of_another(asked: list[Any]) -> None:
    owner = make_user()
    asked += [["a"], ["b"]]
    assert completions.fields(make_endpoint(owner, url="same")).names == ("a",)
    assert completions.fields(make_endpoint(owner, url="same")).names == ("b",)


def test_fields_of_an_engine_that_does_not_answer(asked: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = make_endpoint(make_user())
    kept: list[float] = []
    whole = cache.set
    monkeypatch.setattr(
        completions.cache, "set", lambda key, value, seconds: kept.append(seconds) or whole(key, value, seconds)
    )
    asked += [engines.EndpointUnreachable("Nothing answers."), ["id"]]
    found = completions.fields(endpoint)
    assert (found.names, found.reason) == ((), "Nothing answers.")
    assert completions.fields(endpoint) == found
    assert kept == [completions.ERROR_KEPT_SECONDS]
    cache.clear()
    assert completions.fields(endpoint).names == ("id",)


def test_fields_without_readable_secrets(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    endpoint = make_endpoint(make_user(), credentials={"bearer": "x"})
    settings.CREDENTIALS_KEYS = ["kYQqIYtVxJ2Q2J1bq2yY6a0wN6bqg8g3Qw0m9oQ3l0A="]
    found = completions.fields(Endpoint.objects.defer("credentials", "headers").get(pk=endpoint.pk))
    assert found.names == ()
    assert "was not asked" in found.reason


def test_typed_fields() -> None:
    found = completions.typed_fields(completions.Offered(("id", "name")))
    assert found[:4] == ["id", "name", "id:id", "id:name"]
    assert "thumb:name" in found
    assert completions.typed_fields(completions.Offered()) == []
    for spec in found:
        engines.parse_fields(spec)


def test_words() -> None:
    case = make_case(["a", "b", "c"])
    case.options = {"site": {"lang": "en"}}
    case.save()
    endpoint = make_endpoint(case.owner, options={"query_options": {"shop": 1, "not a name": 2}})
    for text, options in (("a", '{"lang": "en"}'), ("b", '{"lang": "de", "deep": {"er": [1]}}')):
        cases.queries.edit(entry=case.case_queries.get(query__text=text), text=text, options=options)
    make_attempt(case, endpoint, template='{"query": "#$query##", "boost": ##boost##}')
    with CaptureQueriesContext(connection) as captured:
        found = completions.words(case, endpoint)
    assert len(captured) == 2
    assert found.placeholders[:2] == ("#$query##", "#$keyword1##")
    assert [word for word in found.placeholders if "qOption" in word] == [
        f"#$qOption.{path}##" for path in ("deep", "deep.er", "lang", "shop", "site", "site.lang")
    ]
    assert found.knobs == ("##boost##",)
    assert found.words == ()
    for word in (*found.placeholders, *found.knobs):
        engines.parse_template(f'{{"x": "{word}"}}', "json")


def test_words_leave_out_removed_queries() -> None:
    case = make_case(["a"])
    entry = case.case_queries.get()
    cases.queries.edit(entry=entry, text="a", options='{"lang": "en"}')
    cases.queries.remove(entry=entry)
    assert not any("lang" in word for word in completions.words(case, make_endpoint(case.owner)).placeholders)


@pytest.mark.parametrize(
    ("engine", "some"),
    [
        ("solr", {"defType", "qf", "mm"}),
        ("elasticsearch", {"multi_match", "function_score", "tie_breaker"}),
        ("opensearch", {"multi_match", "hybrid"}),
        ("embedded", {"fields", "tie"}),
        ("static", set()),
    ],
)
def test_words_of_engines(engine: str, some: set[str]) -> None:
    case = make_case(1)
    found = completions.words(case, Endpoint(engine=engine, owner=case.owner)).words
    assert some <= set(found)
    assert len(found) == len(set(found))
    assert bool(found) == bool(some)
