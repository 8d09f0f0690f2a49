"""What a file with a whole case or book contains, whatever its format."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError

from relevancy import queries, ratings
from relevancy.cases import KnobRange
from relevancy.formats.errors import BadFile
from relevancy.models import Book, Ranking, Run, ScorerDefinition
from relevancy.models.errors import error_text
from relevancy.queries import QueryDetails

UNKNOWN_RATER = "Unknown rater"
# More are left to a command. A case is stored in one transaction: on SQLite, nobody can rate meanwhile. A book is stored in short
# transactions, but a web thread is busy as long.
MAX_ON_PAGE = 50_000
MAX_OF_BOOK_ON_PAGE = 200_000

type Scale = list[list[Any]]
"""`[[grade, label], …]`, ascending."""


class RatingContent(NamedTuple):
    """One rating. rater: name or e-mail address; empty if the file does not say who rated.

    From `verdict` on: the fields of `NewRating`, in its order.
    """

    doc_id: str
    rater: str
    verdict: str
    value: float | None
    note: str = ""
    rated_at: datetime | None = None
    is_adjudication: bool = False


@dataclass(frozen=True)
class RatingStream:
    """Checked ratings, which may be read from the file again rather than kept in memory. raters: as in `RatingContent.rater`.

    read: yields `(text of the query, rating)`.
    """

    count: int
    raters: frozenset[str]
    read: Callable[[], Iterator[tuple[str, RatingContent]]]

    @property
    def names(self) -> list[str]:
        """The raters as they are stored, sorted: with `UNKNOWN_RATER` for ratings without one."""
        return sorted({name or UNKNOWN_RATER for name in self.raters})

    def rows(self, query_ids: Mapping[str, int], rater_ids: Mapping[str, int]) -> Iterator[ratings.NewRating]:
        """Yields the ratings as they are stored. query_ids: by text. rater_ids: by `names`."""
        for text, rating in self.read():
            yield ratings.NewRating(
                query_ids[text], rating.doc_id, rater_ids[rating.rater or UNKNOWN_RATER], *rating[2:]
            )


@dataclass(frozen=True)
class BookContent:
    """A book as a file has it.

    ratings: read from the file, which must stay open. details: of its queries, by text.
    scale: None if the file does not say it. relevant_from: None for the usual one of the scale.
    links: the texts of queries that are linked with each other. remarks: sentences about what is changed or left out, and why.
    """

    name: str
    ratings: RatingStream
    details: Mapping[str, QueryDetails]
    scale: Scale | None = None
    relevant_from: float | None = None
    rule: str = Book.Rule.LATEST
    guidelines: str = ""
    raters_are_blind: bool = True
    links: Sequence[Sequence[str]] = ()
    remarks: Sequence[str] = ()


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

    book: whose queries and ratings the case has; `outside` are those that only the book has.
    runs: pinned ones, each with an attempt that has nothing but a number. rankings: theirs, those of a run together: yields
        `(number of the run, text of the query, ranking)`.
    is_complete: whether attempts keep their numbers, parents and endpoints, and the book its settings.
    parts: of optional apps, as their `hooks.CasePart.read` has returned them. remarks: as those of the book.
    """

    name: str
    book: BookContent
    scorers: Sequence[ScorerContent]
    attempts: Sequence[AttemptContent]
    outside: frozenset[str] = frozenset()
    options: Mapping[str, Any] = field(default_factory=dict)
    knob_ranges: Mapping[str, KnobRange] = field(default_factory=dict)
    runs: Sequence[Run] = ()
    rankings: Callable[[], Iterator[tuple[int, str, Ranking]]] = lambda: iter(())
    is_complete: bool = False
    parts: Mapping[str, Any] = field(default_factory=dict)
    remarks: Sequence[str] = ()

    @property
    def endpoint(self) -> EndpointContent | None:
        """The endpoint of the newest attempt that can be searched."""
        searched = [attempt.endpoint for attempt in self.attempts if not attempt.endpoint.is_imported]
        return searched[-1] if searched else None


def check_query(text: str, location: str) -> str:
    """Returns the text of a query as it is stored. Raises `BadFile`."""
    try:
        return queries.check_text(text)
    except ValidationError as error:
        raise BadFile(f"{location}: {error_text(error)}") from None


def check_page_limit(ratings: int, command: str, *, is_book: bool = False) -> None:
    """Raises `BadFile` for more ratings than a page imports. command: which imports them instead."""
    limit = MAX_OF_BOOK_ON_PAGE if is_book else MAX_ON_PAGE
    if ratings > limit:
        raise BadFile(
            f"The file has {ratings:,} ratings; a page imports at most {limit:,}, because that takes long, and others may have to "
            f"wait meanwhile. Ask an administrator of this site to use the command {command}."
        )
