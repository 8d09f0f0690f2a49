"""Which engines there are: the built-in ones, then those of installed packages (entry points `relevancy.engines`)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.metadata import entry_points

from .base import Connection, Engine
from .elasticsearch import ElasticsearchEngine
from .embedded import EmbeddedEngine
from .errors import UnknownEngine
from .json_api import JsonApiEngine
from .opensearch import OpenSearchEngine
from .solr import SolrEngine
from .static import StaticEngine

GROUP = "relevancy.engines"
BUILT_IN: tuple[type[Engine], ...] = (
    EmbeddedEngine,
    StaticEngine,
    SolrEngine,
    ElasticsearchEngine,
    OpenSearchEngine,
    JsonApiEngine,
)


@cache
def available() -> tuple[type[Engine], ...]:
    """Every adapter, built-in ones first. Raises `ValueError` where two have one key, or one is no adapter: called at
    start, so that nobody finds out in the middle of a run."""
    return _unique([*BUILT_IN, *(point.load() for point in entry_points(group=GROUP))])


def get(key: str) -> type[Engine]:
    """The adapter of a key. Raises `UnknownEngine` naming those there are."""
    for engine in available():
        if engine.key == key:
            return engine
    there = ", ".join(engine.key for engine in available())
    raise UnknownEngine(f"There is no engine called “{key}”.", todo=f"There are: {there}.")


def connect(connection: Connection) -> Engine:
    """An adapter bound to a connection. Asks nothing of the network yet."""
    return get(connection.engine)(connection)


def _unique(engines: Iterable[type[Engine]]) -> tuple[type[Engine], ...]:
    seen: dict[str, type[Engine]] = {}
    for engine in engines:
        if not (isinstance(engine, type) and issubclass(engine, Engine)):
            raise ValueError(f"Entry point group {GROUP}: {engine!r} is not a subclass of relevancy.engines.Engine.")
        other = seen.setdefault(engine.key, engine)
        if other is not engine:
            raise ValueError(
                f"Two engines are called “{engine.key}”: {_place(other)} and {_place(engine)}. Rename or uninstall one."
            )
    return tuple(seen.values())


def _place(engine: type[Engine]) -> str:
    return f"{engine.__module__}.{engine.__qualname__}"
