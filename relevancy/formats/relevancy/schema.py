"""What the lists of a file in our own format contain: one class for each kind of element, which checks it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, ClassVar, Self

from django.core.exceptions import ValidationError
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    StringConstraints,
    model_validator,
)
from pydantic import ValidationError as InvalidElement

from relevancy import scorers
from relevancy.formats.errors import BadFile, quote
from relevancy.models import Book, Run, ScorerDefinition, Verdict
from relevancy.models.attempt import MAX_KNOB_TEXT
from relevancy.models.errors import error_text
from relevancy.models.text import is_storable

MAX_HITS = 10_000  # of a query
MAX_SCRIPT_LENGTH = 100_000
_FINISHED = sorted(set(Run.Status.values) - set(Run.ACTIVE_STATUSES))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict) and None in value.values():
        return {key: member for key, member in value.items() if member is not None}
    return value


class Element(BaseModel):
    """An object of a file; null is the same as a missing member. `location` names it in errors: `queries[3]`."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, coerce_numbers_to_str=True)
    location: ClassVar[str] = ""

    @classmethod
    def read(cls, value: Any, location: str) -> Self:
        """Returns the checked element. Raises `BadFile` with the location and the value."""
        try:
            element = cls.model_validate(_without_nulls(value))
        except InvalidElement as error:
            raise _bad_file(error, location, cls) from None
        element.__dict__["location"] = (
            location  # as a cached property is kept: a private attribute takes as long as all checks
        )
        return element

    def refuse(self, key: str, problem: str) -> BadFile:
        """Returns an error about a member."""
        return BadFile(f"{self.location}.{key}: {problem}.".removeprefix("."))


def _bad_file(error: InvalidElement, location: str, schema: type[Element]) -> BadFile:
    """Returns the first error as other readers write theirs. location: of the element; empty for the file itself."""
    first = error.errors(include_url=False)[0]
    *path, last = first["loc"] or ("",)  # without a location, it is not an object
    if first["type"] == "extra_forbidden":
        inner: dict[Any, type[Element]] = {("config",): ConfigElement, ("book",): BookElement}
        members = sorted(inner.get(tuple(path), schema).model_fields)
        problem = f"{quote(last)} is not a member. The members are {', '.join(members)}"
    else:
        path.append(last)
        value = quote(first["input"])
        problem = {
            "missing": "this is missing",
            "value_error": str(first.get("ctx", {}).get("error")),
            "model_type": f"this must be an object, not {value}",
        }.get(first["type"]) or f"{first['msg'].replace('Input should', 'this must')}, not {value}"
    for part in path:
        location += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if part else ""
    return BadFile(f"{location}: {problem}.".removeprefix(".").removeprefix(": "))


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _read_time(value: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ValueError(f"{quote(value)} is not a time with an offset, such as 2026-01-31T12:00:00+00:00")
    return moment


def _check_knobs(knobs: dict[str, Any]) -> dict[str, Any]:
    for name, value in knobs.items():
        is_text = isinstance(value, str) and 0 < len(value) <= MAX_KNOB_TEXT and is_storable(value)
        if not is_text and (not is_number(value) or not abs(value) < 1e12):
            raise ValueError(f"{quote(name)} must be a number or a short text, not {quote(value)}")
    return knobs


def _check_hits(hits: list[Any]) -> list[Any]:
    """Accepts the hits as `Ranking.hits` has them: `[document id, score or null, {field: value}, {field: snippet}]`."""
    if len(hits) > MAX_HITS:
        raise ValueError(f"there are {len(hits):,}; at most {MAX_HITS:,} are possible")
    for hit in hits:
        is_hit = (
            isinstance(hit, list)
            and len(hit) in (3, 4)
            and isinstance(hit[0], str)
            and 0 < len(hit[0]) <= 500
            and (hit[1] is None or is_number(hit[1]))
            and all(isinstance(part, dict) for part in hit[2:])
        )
        if not is_hit:
            raise ValueError(f'a hit must be like ["id", 1.5, {{"title": "…"}}], not {quote(hit)}')
    return hits


def _join_lines(lines: Any) -> str:
    if isinstance(lines, str):
        return lines
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise ValueError("this must be a list of lines")
    return "\n".join(lines)


def _check_script(script: str) -> str:
    if len(script) > MAX_SCRIPT_LENGTH:
        raise ValueError(f"this has {len(script):,} characters; the maximum is {MAX_SCRIPT_LENGTH:,}")
    return script


def _read_scale(value: Any) -> list[list[Any]]:
    """Returns the grades with their labels. Only the grades are validated as text, since a label may contain a comma."""
    steps = value if isinstance(value, list) else []
    if not steps or not all(isinstance(step, list) and len(step) == 2 and isinstance(step[1], str) for step in steps):
        raise ValueError(f'this must be a list such as [[0, "Poor"], [1, "Good"]], not {quote(value)}')
    if not all(is_number(grade) for grade, _ in steps):
        raise ValueError(f"the grades must be numbers, not {quote(value)}")
    try:
        grades = scorers.parse_scale(", ".join(repr(grade) for grade, _ in steps))
    except ValidationError as error:
        raise ValueError(error_text(error).removesuffix(".")) from None
    labels = {float(grade): label for grade, label in steps}
    return [[grade, labels[float(grade)]] for grade, _ in grades]


def _one_of(values: Sequence[str], what: str) -> AfterValidator:
    def check(value: str) -> str:
        if value not in values:
            raise ValueError(f"{quote(value)} is not {what} {', '.join(values)}")
        return value

    return AfterValidator(check)


Number = Annotated[float, Strict()]
Flag = Annotated[bool, Strict()]
Count = Annotated[int, Strict(), Field(ge=0, le=2**53)]
Positive = Annotated[int, Strict(), Field(ge=1, le=1_000_000_000)]
Texts = list[Annotated[str, Strict()]]
Lines = Annotated[str, BeforeValidator(_join_lines)]
Time = Annotated[datetime, BeforeValidator(_read_time)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=191)]
Scale = Annotated[list[list[Any]], BeforeValidator(_read_scale)]
Knobs = Annotated[dict[str, Any], AfterValidator(_check_knobs)]


class BookElement(Element):
    name: Name
    scale: Scale
    relevant_from: Number | None = None
    rule: Annotated[str, _one_of(Book.Rule.values, "a rule. The rules are")] = Book.Rule.LATEST.value
    guidelines: Lines = ""
    raters_are_blind: Flag = True


class ScorerElement(Element):
    """gives: the highest value of a script, 1 or 100. depth: how many results a script considers."""

    model_config = ConfigDict(coerce_numbers_to_str=False)
    name: str
    description: str = ""
    scale: Scale
    measure: str = ""
    script: Annotated[Lines, AfterValidator(_check_script)] = ""
    gives: str = "100"
    depth: Annotated[int, Strict()] | None = None
    count_unscoreable_as_zero: Flag = False

    @model_validator(mode="after")
    def _has_one_definition(self) -> Self:
        if bool(self.measure) == bool(self.script):
            raise ValueError("a scorer must have exactly one of measure and script")
        return self

    @property
    def definition(self) -> ScorerDefinition:
        return ScorerDefinition(
            measure=self.measure,
            script=self.script,
            scale=self.scale,
            output_range=self.gives,
            cutoff=self.depth,
            count_unscoreable_as_zero=self.count_unscoreable_as_zero,
        )


class Head(Element):
    """The members of a file that are not lists. Options, ranges of knobs and what optional apps have are those of a case."""

    format: Any
    kind: Any
    name: Name
    book: Annotated[BookElement, BeforeValidator(_without_nulls)]
    options: dict[str, Any] = {}
    knob_ranges: dict[str, Any] = {}
    apps: dict[str, Any] = {}


class QueryElement(Element):
    query: str
    information_need: str = ""
    reference_answer: str = ""
    notes: str = ""
    tags: Texts = []
    options: dict[str, Any] = {}
    weight: Number = 1
    in_case: Flag = True


class LinkElement(Element):
    """shares_ratings: of earlier versions."""

    queries: Texts
    shares_ratings: Flag = False


class RatingElement(Element):
    query: str
    document: str
    rater: str = ""
    rating: Number | None = None
    verdict: str = Verdict.RATED.value
    at: Time | None = None
    note: str = ""
    is_adjudication: Flag = False


class EndpointElement(Element):
    name: Annotated[str, Field(min_length=1)]
    engine: Annotated[str, Field(min_length=1, max_length=30)]
    options: dict[str, Any] = {}
    is_imported: Flag = False


class AttemptElement(Element):
    number: Positive
    parent: Positive | None = None
    name: str = ""
    note: str = ""
    endpoint: str = ""
    template: Lines = ""
    knobs: Knobs = {}
    fields: str = ""  # type: ignore[assignment]  # of the class, and deprecated there
    depth: Count = 10
    escape: Flag = False
    is_archived: Flag = False


class ConfigElement(Element):
    """The copy of an attempt that a run was made with. It has no address: nothing is sent there."""

    engine: str = ""
    endpoint: str = ""
    template: str = ""
    knobs: Knobs = {}
    fields: str = ""  # type: ignore[assignment]
    depth: Positive
    escape: Flag = False
    options: dict[str, Any] = {}
    imported: Flag = False
    mapping: dict[str, Any] = {}


class RunElement(Element):
    number: Positive
    attempt: Positive
    name: str = ""
    note: str = ""
    status: Annotated[str, _one_of(_FINISHED, "one of")]
    reason: str = ""
    version: str = ""
    rows: Positive
    queries: Count = 0
    seconds: Annotated[Number, Field(ge=0)] = 0
    created_at: Time
    started_at: Time | None = None
    finished_at: Time | None = None
    config: Annotated[ConfigElement, BeforeValidator(_without_nulls)]


class RankingElement(Element):
    run: Positive
    query: str
    text: str = ""
    options: dict[str, Any] = {}
    at: Time | None = None  # in files of earlier versions
    total: Count | None = None
    took_ms: Annotated[Count, Field(le=2**31 - 1)] | None = None
    error_kind: Annotated[str, Field(max_length=20)] = ""
    error: str = ""
    hits: Annotated[list[Any], AfterValidator(_check_hits)] = []
