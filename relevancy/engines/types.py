"""Plain data that engines take and return. Interfaces may import these types."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .errors import BadQuery
from .fields.highlighting import Pieces, highlighted_pieces

if TYPE_CHECKING:
    from .fields.specs import FieldSpec
    from .templates.template import Template
    from .transport.addresses import AddressRules

Syntax = Literal["params", "json", "either"]  # of a query template
OptionKind = Literal["choice", "expression", "template", "text", "script"]
AddressKind = Literal["url", "folder", "file"]
FailureKind = Literal["required", "prohibited", "minimum", "other"]
KnobValue = float | str  # a text only where it does not read as a number, see `read_knob_value`


@dataclass(frozen=True)
class AddressField:
    """How an endpoint says where its engine is; forms are drawn from it.

    `kind`: `url` is an HTTP address; `folder` the name of a folder below the data directory; `file` the name of an
    uploaded file below the data directory.
    `example`: a value that could be entered.
    """

    kind: AddressKind
    label: str
    help: str
    example: str


@dataclass(frozen=True)
class OptionInfo:
    """An option of an endpoint as forms and documentation show it.

    `required`: the option has no default.
    `advanced`: most endpoints do not need it, so forms fold it away.
    `decides_results`: searches depend on it; suggestions, tests and lookups alone do not matter.
    `choices`: of the kind `choice`, the default first.
    """

    name: str
    label: str
    help: str
    kind: OptionKind
    required: bool = False
    advanced: bool = False
    decides_results: bool = True
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Preset:
    """Settings of an endpoint for one product. They fill a form, where everything can be changed; nothing remembers the preset.

    `key`: name in commands. `label`: name for people.
    `address`: an example of the address that searches are sent to.
    `options`: options of the endpoint.
    `headers`: names of the headers that contain the keys. `credential`: instead of them, what to enter.
    `notes`: what has to be adapted, and what is peculiar.
    `source`: address of the documentation that it follows.
    """

    key: str
    label: str
    address: str
    options: Mapping[str, str]
    headers: tuple[str, ...] = ()
    credential: str = ""
    notes: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True)
class Abilities:
    """What an adapter can do.

    `explain`: explain the score of a document.
    `explain_many`: explain the scores of several documents in one request.
    `explain_failures`: say why a document does not match.
    `interpret`: say how it understands a request.
    `lookup`: return documents by id.
    `highlight`: return highlighted snippets.
    `load`: add documents to the index.
    `list_queries`: list the only queries that it has results for.
    `behaviour`: return what User Behavior Insights has recorded.
    `clause_scores`: return the scores of several queries for documents by id.
    """

    explain: bool = False
    explain_many: bool = False
    explain_failures: bool = False
    interpret: bool = False
    lookup: bool = False
    highlight: bool = False
    load: bool = False
    list_queries: bool = False
    behaviour: bool = False
    clause_scores: bool = False


SEARCH_ENGINE = Abilities(
    explain=True,
    explain_many=True,
    explain_failures=True,
    interpret=True,
    lookup=True,
    highlight=True,
    load=True,
    clause_scores=True,
)


@dataclass(frozen=True)
class Connection:
    """Where an engine is and how to connect to it. Contains secrets in plain text: never store or log it.

    `label`: what events call the endpoint, such as its id; no address, no secret.
    `url`: the endpoint's address, of the kind that the adapter's `address` names.
    `credentials`: `{"username", "password"}`, `{"api_key"}` or `{"bearer"}`.
    `headers`: further HTTP headers.
    `parallel`: requests at the same time.
    `per_minute`: requests per minute; 0 means no limit. `reserve`: shares this limit between processes, see `RateLimit`.
    `connect_timeout`: seconds for connecting. `read_timeout`: seconds for the whole response, up to its last byte.
    `allowed_handlers`, `allowed_indexes`: what an administrator allows for the endpoint: further request handlers, and further
    indexes that its queries may refer to.
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
    reserve: Callable[[int], float] | None = field(default=None, repr=False)
    connect_timeout: float = 5.0
    read_timeout: float = 30.0
    allowed_handlers: tuple[str, ...] = ()
    allowed_indexes: tuple[str, ...] = ()
    label: str = ""


@dataclass(frozen=True)
class Request:
    """One search.

    `rows`, `start`: how many hits to return, from which position, counted from 0.
    `knobs`: values of the placeholders `##name##`.
    `options`: values of the placeholders `#$qOption…##`.
    `escape`: escape Lucene's special characters in the query text before it enters the template.
    `highlight`: also return highlighted snippets of the displayed fields. Takes time; changes no ranking, score or total.
    """

    query: str
    template: Template
    fields: FieldSpec
    rows: int
    start: int = 0
    knobs: Mapping[str, KnobValue] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    escape: bool = False
    highlight: bool = False

    def with_own_template(self, text: str, template: Template) -> Request:
        """Returns a request for a text that the user has entered, with a template of the adapter."""
        return replace(self, query=text, template=template, knobs={}, options={}, escape=False)

    def render(self) -> Any:
        """Returns the template, filled in, as `Template.render` does. Raises `BadQuery`, also for text that cannot be sent."""
        try:
            (self.query + json.dumps(dict(self.options), ensure_ascii=False)).encode()
        except UnicodeEncodeError as error:
            raise BadQuery(
                "The query contains half of a character (a lone surrogate), which cannot be sent.",
                hint="Type the query again.",
            ) from error
        return self.template.render(query=self.query, options=self.options, knobs=self.knobs, escape=self.escape)


@dataclass(frozen=True)
class Hit:
    """One returned document.

    `id`: trimmed and not empty.
    `fields`: values of the displayed fields as plain JSON.
    `highlights`: field name → snippet with U+E000 before and U+E001 after each highlighted word, otherwise raw text.
    """

    id: str
    score: float | None
    fields: Mapping[str, Any]
    highlights: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """The hits of one search in rank order, including repeated ids.

    `total`: number of matching documents, None if the engine does not report it.
    `took_ms`: wall time of the request in milliseconds.
    `rendered_request`: what was sent, as plain JSON without credentials.
    `is_limited`: the limits have been applied, which `search_many` need not do again for what `search` returned.
    """

    hits: tuple[Hit, ...]
    total: int | None
    took_ms: int
    rendered_request: Mapping[str, Any]
    is_limited: bool = field(default=False, compare=False, repr=False)


@dataclass(frozen=True)
class WeightedClause:
    """A part of a sum that ranks documents. text: a query that `Engine.parse_clause` takes, or the name of a field if `is_number`.
    knob: the name of its weight."""

    name: str
    text: str
    is_number: bool
    knob: str


@dataclass(frozen=True)
class TemplateWarning:
    """A probable mistake in a valid query template. `line` and `column` count from 1."""

    message: str
    line: int
    column: int


@dataclass(frozen=True)
class Display:
    """A document as plain text to be displayed: nothing is escaped or truncated.

    `subs`: (field name, text) of the other fields, in order.
    `highlighted_title`, `highlights`: the highlights of the title and of the fields in `subs`.
    `unabridged`: names of fields that are always displayed in full.
    """

    title: str
    thumb_url: str | None
    image_url: str | None
    subs: tuple[tuple[str, str], ...]
    highlighted_title: str = ""
    highlights: Mapping[str, str] = field(default_factory=dict)
    unabridged: tuple[str, ...] = ()

    @property
    def title_pieces(self) -> Pieces:
        """The whole title as (text, is highlighted)."""
        return highlighted_pieces(self.title, self.highlighted_title, whole=True)

    @property
    def snippets(self) -> tuple[tuple[str, Pieces], ...]:
        """Each field of `subs` as its name and (text, is highlighted): its highlight, or its text if it has none."""
        return tuple(
            (name, highlighted_pieces(text, self.highlights.get(name, ""), whole=name in self.unabridged))
            for name, text in self.subs
        )


@dataclass(frozen=True)
class ExplanationNode:
    """A node of an engine's explanation in normal form. `value` is finite. `matches`: the document meets this condition."""

    value: float
    description: str
    children: tuple[ExplanationNode, ...] = ()
    matches: bool = True


@dataclass(frozen=True)
class FailedClause:
    """A condition of a query that a document does not meet.

    `kind`: `required`: the clause does not match. `prohibited`: it matches, and must not. `minimum`: fewer of its optional clauses
    match than must. `other`: anything else, in the engine's words.
    `clause`: in the engine's syntax; empty if it is the whole query.
    `minimum`: how many optional clauses must match. `matching`: those that do; `missing`: those that do not, if the engine says.
    """

    kind: FailureKind
    clause: str
    minimum: int = 0
    matching: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What comes before the clause in a sentence."""
        if self.kind == "minimum":
            which = ", and fewer do" if self.matching else ", and none does"
            return f"At least {self.minimum} of the clauses must match{which}:"
        if not self.clause:
            return "No word or clause of the query matches."
        return FAILURE_TEXTS[self.kind]


FAILURE_TEXTS = {
    "required": "Required, and does not match:",
    "prohibited": "Excluded, and matches:",
    "other": "The engine says:",
}


@dataclass(frozen=True)
class Timing:
    """Time that a part of a search took. `level`: how deep the part is nested, 0 for the outermost."""

    label: str
    milliseconds: float
    level: int = 0


@dataclass(frozen=True)
class Interpretation:
    """How an engine understands a request. `parts`: name and text, such as the parsed query. `timings`: where it spends time."""

    parts: tuple[tuple[str, str], ...]
    timings: tuple[Timing, ...] = ()


@dataclass(frozen=True)
class Factor:
    """A factor of what a term contributed: boost, idf, tf and the like.

    `value` is above 0. `inputs`: what the engine computed it from, such as the frequency of the term, as (name, number).
    """

    name: str
    value: float
    inputs: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Contribution:
    """What a term in a field contributed to a score.

    `field`, `term`: both empty for a function.
    `value`: points of the score.
    `share`: fraction of the score, 0–1.
    `factors`: those of the formula for the term, before functions and tie breakers; empty if the engine names none.
    """

    field: str
    term: str
    label: str
    value: float
    share: float = 0.0
    factors: tuple[Factor, ...] = ()
