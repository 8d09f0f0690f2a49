"""The words every engine adapter shares: what is asked, what comes back, and what an adapter must offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from .errors import EngineError

if TYPE_CHECKING:
    from .addresses import AddressRules
    from .fields import FieldSpec
    from .templates import Syntax, Template


@dataclass(frozen=True)
class Connection:
    """Where an engine is and how to speak to it. Plain data: no Django, no secrets beyond this object's life.

    `url`: address of the core or index (`solr`, `elasticsearch`) or of the search API (`http`); name of an index below
    `data_dir` (`embedded`); name of a file of rankings below `data_dir` (`static`).
    `credentials`: `{"username", "password"}`, `{"api_key"}` or `{"bearer"}`; `headers` are sent as they are.
    `per_minute`: 0 = no limit. Time-outs in seconds.
    """

    engine: str
    url: str
    rules: AddressRules
    options: Mapping[str, Any] = field(default_factory=dict)
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    data_dir: Path | None = None
    parallel: int = 8
    per_minute: int = 0
    connect_timeout: float = 5.0
    read_timeout: float = 30.0


@dataclass(frozen=True)
class Request:
    """One query to be asked: `rows` hits from place `start` (0-based). `options` feed `#$qOption…##`, `knobs` feed `##name##`.

    `escape`: escape Lucene's special characters in the query text before it enters the template. `highlight`: also ask for
    snippets of the displayed fields, which costs time; it changes no ranking, score or total.
    """

    query: str
    template: Template
    fields: FieldSpec
    rows: int
    start: int = 0
    knobs: Mapping[str, float] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    escape: bool = False
    highlight: bool = False


@dataclass(frozen=True)
class Hit:
    """One returned document. `id` is a trimmed, non-empty string; `fields` holds the displayed fields as plain JSON.

    `highlights`: field → a snippet of its text, U+E000 before and U+E001 after each marked word, otherwise raw.
    """

    id: str
    score: float | None
    fields: Mapping[str, Any]
    highlights: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """What came back, in rank order, repeats of an id included. `total`: hits the engine counted, None where it does not say.

    `took_ms`: wall time of the request as seen from here. `sent`: what was sent, as plain JSON, without credentials.
    """

    hits: tuple[Hit, ...]
    total: int | None
    took_ms: int
    sent: Mapping[str, Any]


@dataclass(frozen=True)
class Abilities:
    """What an adapter can do, as data."""

    explain: bool = False
    lookup: bool = False
    highlight: bool = False
    facets: bool = False
    templates: bool = False


class Engine(ABC):
    """One adapter, bound to one `Connection`. Safe to use from several threads. `close()` or use as a context manager."""

    key: ClassVar[str]
    label: ClassVar[str]
    syntax: ClassVar[Syntax]  # of the query template
    abilities: ClassVar[Abilities]
    default_id_field: ClassVar[str] = "id"
    example_url: ClassVar[str]
    example_template: ClassVar[str]

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    @abstractmethod
    def search(self, request: Request) -> Page:
        """Ask one query. Raises a member of the `EngineError` family and nothing else."""

    @abstractmethod
    def search_many(
        self, requests: Sequence[Request], *, stop: Callable[[], bool] = lambda: False
    ) -> Iterator[tuple[int, Page | EngineError]]:
        """Ask many, at most `connection.parallel` at once; yields `(index, page or error)` as answers come.

        One failed query never stops the others. `stop` is looked at between requests; once true, no further request
        is sent, those under way are still yielded.
        """

    @abstractmethod
    def lookup(self, ids: Sequence[str], fields: FieldSpec) -> list[Hit]:
        """Documents by id, in the order asked, those that do not exist left out. Score None."""

    @abstractmethod
    def explain(self, request: Request, doc_id: str) -> Mapping[str, Any]:
        """Why a document scores what it does for a request: the engine's tree as `{value, description, details}`."""

    @abstractmethod
    def fields(self) -> list[str]:
        """Names of the fields the index offers, sorted."""

    @abstractmethod
    def version(self) -> str:
        """Product and version, such as `Solr 9.10.1`. Doubles as the check that the endpoint is there and is what it claims."""

    @abstractmethod
    def render(self, request: Request) -> Mapping[str, Any]:
        """What `search` would send, as plain JSON, without credentials and without asking the engine."""

    def filled(self, request: Request) -> Mapping[str, Any]:
        """What the engine makes of `render`'s request before it searches. Asks the engine where it fills in a search template
        that it stores; the same as `render` everywhere else."""
        return self.render(request)

    def close(self) -> None:  # noqa: B027 (most adapters hold nothing)
        """Give connections back. Doing it twice is harmless."""

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
