"""What a file with a whole case contains, whatever its format."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from relevancy.cases import KnobRange
from relevancy.models import Ranking, Run, ScorerDefinition
from relevancy.queries import QueryDetails

type Scale = list[list[Any]]
"""`[[grade, label], …]`, ascending."""


class RatingContent(NamedTuple):
    """One rating. rater: name or e-mail address; empty if the file does not say who rated. is_adjudication: as of `Rating`."""

    doc_id: str
    value: float | None
    rater: str = ""
    verdict: str = "rated"
    note: str = ""
    rated_at: datetime | None = None
    is_adjudication: bool = False


@dataclass(frozen=True)
class RatingStream:
    """Checked ratings that are read from the file again rather than kept in memory. raters: as in `RatingContent.rater`.

    read: yields `(text of the query, rating)`.
    """

    count: int
    raters: frozenset[str]
    read: Callable[[], Iterator[tuple[str, RatingContent]]]


@dataclass(frozen=True)
class BookSettingsContent:
    """What a file says about the book of a case besides its scale."""

    name: str
    relevant_from: float
    rule: str
    guidelines: str


@dataclass(frozen=True)
class QueryContent:
    """A query with its ratings. in_case: False if only the book of the case has it."""

    text: str
    details: QueryDetails = field(default_factory=QueryDetails)
    ratings: Sequence[RatingContent] = ()
    in_case: bool = True


@dataclass(frozen=True)
class ScorerContent:
    """A scorer.

    definition: None if the file only names it. is_exact: nothing of the definition was guessed. remark: said if it is used.
    """

    name: str
    definition: ScorerDefinition | None = None
    description: str = ""
    is_exact: bool = False
    remark: str = ""


@dataclass(frozen=True)
class EndpointContent:
    """An endpoint.

    url: without credentials; empty if the file does not say it. problem: why the endpoint cannot be created here.
    is_imported: of runs that were made elsewhere, which cannot be searched.
    """

    name: str
    engine: str
    url: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    per_minute: int = 0
    problem: str = ""
    is_imported: bool = False

    @property
    def has_secrets(self) -> bool:
        return bool(self.credentials or self.headers)


@dataclass(frozen=True)
class AttemptContent:
    """An attempt. parent: the number of another one."""

    template: str
    endpoint: EndpointContent
    number: int = 1
    parent: int | None = None
    name: str = ""
    note: str = ""
    knobs: Mapping[str, Any] = field(default_factory=dict)
    fields: str = ""
    depth: int = 10
    escape: bool | None = None
    is_archived: bool = False


@dataclass(frozen=True)
class CaseContent:
    """A case as a file has it.

    scale: None if the file does not say it.
    remarks: sentences about what is changed or left out, and why.
    stream: the ratings, unless they are in `queries`.
    book: None if the case gets a new book with the usual settings.
    runs: pinned ones, each with an attempt that has nothing but a number. rankings: theirs, those of a run together: yields
        `(number of the run, text of the query, ranking)`.
    links: the texts of queries that are linked with each other.
    keeps_history: whether attempts keep their numbers, parents and endpoints.
    """

    name: str
    queries: Sequence[QueryContent]
    scorers: Sequence[ScorerContent]
    attempts: Sequence[AttemptContent]
    scale: Scale | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    knob_ranges: Mapping[str, KnobRange] = field(default_factory=dict)
    remarks: Sequence[str] = ()
    stream: RatingStream | None = None
    book: BookSettingsContent | None = None
    runs: Sequence[Run] = ()
    rankings: Callable[[], Iterator[tuple[int, str, Ranking]]] = lambda: iter(())
    links: Sequence[Sequence[str]] = ()
    keeps_history: bool = False

    @property
    def endpoint(self) -> EndpointContent | None:
        """The endpoint of the newest attempt that can be searched."""
        searched = [attempt.endpoint for attempt in self.attempts if not attempt.endpoint.is_imported]
        return searched[-1] if searched else None

    def ratings(self) -> Iterator[tuple[str, RatingContent]]:
        """Yields `(text of the query, rating)`."""
        if self.stream is not None:
            yield from self.stream.read()
        for query in self.queries:
            for rating in query.ratings:
                yield query.text, rating

    @property
    def rating_count(self) -> int:
        return self.stream.count if self.stream else sum(len(query.ratings) for query in self.queries)

    @property
    def all_raters(self) -> set[str]:
        """The raters of the ratings; the empty string for those that the file does not name."""
        if self.stream is not None:
            return set(self.stream.raters)
        return {rating.rater for query in self.queries for rating in query.ratings}

    @property
    def raters(self) -> list[str]:
        """The raters that the file names, sorted."""
        return sorted(name for name in self.all_raters if name)
