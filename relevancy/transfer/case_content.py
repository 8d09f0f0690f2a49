"""What a file with a whole case contains, whatever its format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from relevancy.models import ScorerDefinition
from relevancy.queries import QueryDetails

type Scale = list[list[Any]]
"""`[[grade, label], …]`, ascending."""


@dataclass(frozen=True, slots=True)
class RatingContent:
    """One rating. rater: name or e-mail address; empty if the file does not say who rated."""

    doc_id: str
    value: float | None
    rater: str = ""
    verdict: str = "rated"
    note: str = ""
    rated_at: datetime | None = None


@dataclass(frozen=True)
class QueryContent:
    """A query with its ratings. in_case: False if only the book of the case has it."""

    text: str
    details: QueryDetails = field(default_factory=QueryDetails)
    ratings: Sequence[RatingContent] = ()
    in_case: bool = True


@dataclass(frozen=True)
class ScorerContent:
    """A scorer. definition: None if the file only names it."""

    name: str
    definition: ScorerDefinition | None = None
    description: str = ""


@dataclass(frozen=True)
class EndpointContent:
    """An endpoint. url: without credentials; empty if the file does not say it. problem: why the endpoint cannot be created here."""

    name: str
    engine: str
    url: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    per_minute: int = 0
    problem: str = ""

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
    """

    name: str
    queries: Sequence[QueryContent]
    scorers: Sequence[ScorerContent]
    attempts: Sequence[AttemptContent]
    scale: Scale | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    remarks: Sequence[str] = ()

    @property
    def endpoint(self) -> EndpointContent | None:
        """The endpoint of the newest attempt."""
        return self.attempts[-1].endpoint if self.attempts else None

    @property
    def raters(self) -> list[str]:
        """The raters that the file names, sorted."""
        names = {rating.rater for query in self.queries for rating in query.ratings}
        return sorted(name for name in names if name)
