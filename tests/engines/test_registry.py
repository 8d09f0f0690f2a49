"""Which engines there are."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from relevancy import engines
from relevancy.engines import AddressRules, Connection, UnknownEngine, registry
from relevancy.engines.solr import SolrEngine


class OtherSolr(SolrEngine):
    """An engine of another package that takes a name that is taken."""


class Vespa(SolrEngine):
    key = "vespa"


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    def installed(name: str) -> None:
        point = EntryPoint(name, f"{__name__}:{name}", registry.GROUP)
        monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == registry.GROUP else [])
        engines.available.cache_clear()

    yield installed
    monkeypatch.undo()
    engines.available.cache_clear()


def test_available_begins_with_the_built_in_ones() -> None:
    assert [engine.key for engine in engines.available()][:4] == ["embedded", "static", "solr", "elasticsearch"]


@pytest.mark.parametrize("engine", engines.available(), ids=lambda engine: engine.key)
def test_available_engines_are_complete(engine: type[engines.Engine]) -> None:
    assert engine.label
    assert engine.syntax in ("params", "json", "either")
    assert engine.example_url
    engines.parse_template(engine.example_template, engine.syntax)


def test_available_includes_entry_points(install: Any) -> None:
    install("Vespa")
    assert engines.get("vespa") is Vespa


def test_available_refuses_two_of_one_key(install: Any) -> None:
    install("OtherSolr")
    with pytest.raises(ValueError, match=r"“solr”.*SolrEngine.*OtherSolr"):
        engines.available()


def test_available_refuses_what_is_no_engine(install: Any) -> None:
    install("registry")
    with pytest.raises(ValueError, match="not a subclass"):
        engines.available()


def test_get_names_those_there_are() -> None:
    with pytest.raises(UnknownEngine, match=r"“lucy”.*embedded, static, solr, elasticsearch"):
        engines.get("lucy")


def test_connect_asks_nothing_yet() -> None:
    rules = AddressRules(private_allowed=True, resolver=lambda host, port: pytest.fail("resolved"))
    with engines.connect(Connection("solr", "http://search.example/solr/c", rules)) as engine:
        assert isinstance(engine, SolrEngine)
