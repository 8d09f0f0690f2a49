"""The registry of engines."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from relevancy import engines
from relevancy.engines import AddressRules, Connection, InvalidEngine, UnknownEngine, registry
from relevancy.engines.solr.engine import SolrEngine


class OtherSolr(SolrEngine):
    """An engine of another package with the key of a built-in one."""


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


def test_available_begins_with_built_in_engines() -> None:
    assert [engine.key for engine in engines.available()][:4] == ["embedded", "static", "solr", "elasticsearch"]


@pytest.mark.parametrize("engine", engines.available(), ids=lambda engine: engine.key)
def test_available_engines_are_complete(engine: type[engines.Engine]) -> None:
    assert engine.label
    assert engine.syntax in ("params", "json", "either")
    assert engine.address.example
    engines.parse_template(engine.example_template, engine.syntax)


def test_available_includes_entry_points(install: Any) -> None:
    install("Vespa")
    assert engines.get("vespa") is Vespa


def test_available_rejects_two_engines_with_one_key(install: Any) -> None:
    install("OtherSolr")
    with pytest.raises(InvalidEngine, match=r"“solr”.*SolrEngine.*OtherSolr"):
        engines.available()


def test_available_rejects_entry_points_that_are_not_engines(install: Any) -> None:
    install("registry")
    with pytest.raises(InvalidEngine, match="must refer to a subclass"):
        engines.available()


def test_get_lists_the_installed_engines() -> None:
    with pytest.raises(UnknownEngine, match=r"“lucy”.*embedded, static, solr, elasticsearch"):
        engines.get("lucy")


def test_connect_sends_nothing() -> None:
    rules = AddressRules(private_allowed=True, resolver=lambda host, port: pytest.fail("resolved"))
    with engines.connect(Connection("solr", "http://search.example/solr/c", rules)) as engine:
        assert isinstance(engine, SolrEngine)


def test_find_of_an_uninstalled_engine() -> None:
    assert engines.find("lucy") is None
    assert engines.find("solr") is SolrEngine


def test_label_of_an_uninstalled_engine_is_its_key() -> None:
    assert engines.label("lucy") == "lucy"
    assert engines.label("solr") == "Solr"
