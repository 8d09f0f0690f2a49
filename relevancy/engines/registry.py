"""The available engines: built-in ones, those of optional apps, those of installed packages (entry points `relevancy.engines`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import entry_points

from .base import Engine
from .elastic.engine import ElasticsearchEngine, OpenSearchEngine
from .embedded.engine import EmbeddedEngine
from .errors import InvalidEngine, UnknownEngine
from .solr.engine import SolrEngine
from .static.engine import StaticEngine
from .types import Connection

GROUP = "relevancy.engines"
BUILT_IN: tuple[type[Engine], ...] = (
    EmbeddedEngine,
    StaticEngine,
    SolrEngine,
    ElasticsearchEngine,
    OpenSearchEngine,
)
_of_apps: list[type[Engine]] = []


def register(engine: type[Engine]) -> None:
    """Adds the engine of an optional app, when it starts. Raises `InvalidEngine` if another one has its key."""
    _of_apps.append(engine)
    available.cache_clear()
    available()


@cache
def available() -> tuple[type[Engine], ...]:
    """Returns every adapter, the built-in ones first.

    Raises `InvalidEngine` if two adapters have the same key, or if an entry point cannot be used. It is called at start, so
    that such a mistake does not wait for the first run.
    """
    return _checked([*BUILT_IN, *_of_apps, *_load_installed()])


def find(key: str) -> type[Engine] | None:
    """Returns the adapter of a key, None if there is none: pages show endpoints of engines that are gone with a notice."""
    return next((engine for engine in available() if engine.key == key), None)


def get(key: str) -> type[Engine]:
    """Returns the adapter of a key. Raises `UnknownEngine`."""
    engine = find(key)
    if engine is None:
        keys = ", ".join(engine.key for engine in available())
        raise UnknownEngine(
            f"No engine “{key}” is installed.",
            hint=f"Install its package, start Relevancy with its app, or choose another engine: {keys}.",
        )
    return engine


def label(key: str) -> str:
    """Returns the engine's name for people; the key itself if no such engine is installed."""
    engine = find(key)
    return engine.label if engine else key


def connect(connection: Connection) -> Engine:
    """Returns an adapter bound to a connection. Does not contact the engine. Raises `UnknownEngine`."""
    return get(connection.engine)(connection)


def _load_installed() -> Iterator[type[Engine]]:
    for entry_point in entry_points(group=GROUP):
        try:
            engine = entry_point.load()
        except Exception as error:
            raise InvalidEngine(
                f"The engine “{entry_point.name}” ({entry_point.value}) cannot be imported: {error}. Repair or uninstall the "
                "package that provides it."
            ) from error
        if not (isinstance(engine, type) and issubclass(engine, Engine)):
            raise InvalidEngine(
                f"The entry point “{entry_point.name}” of {GROUP} must refer to a subclass of relevancy.engines.Engine, but "
                f"{entry_point.value} is {engine!r}."
            )
        yield engine


def _checked(engines: Iterable[type[Engine]]) -> tuple[type[Engine], ...]:
    by_key: dict[str, type[Engine]] = {}
    for engine in engines:
        first = by_key.setdefault(engine.key, engine)
        if first is not engine:
            raise InvalidEngine(
                f"Two engines have the key “{engine.key}”: {_import_path(first)} and {_import_path(engine)}. "
                "Rename or uninstall one of them."
            )
    return tuple(by_key.values())


def _import_path(engine: type[Engine]) -> str:
    return f"{engine.__module__}.{engine.__qualname__}"
