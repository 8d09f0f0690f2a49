"""A case in our own format, `relevancy/1`."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import IO, Any

from relevancy.cases import KnobRange
from relevancy.formats.cases.case_content import (
    AttemptContent,
    CaseContent,
    EndpointContent,
    QueryContent,
    ScorerContent,
)
from relevancy.formats.errors import BadFile, quote
from relevancy.formats.json_stream import Fields
from relevancy.models import Attempt, Ranking, Run

from .reader import RelevancyFile, check_keys, read_elements, read_file, read_lines, read_time
from .scorer_file import read_definition
from .writer import CASE

MAX_HITS = 10_000  # of a query
MAX_NUMBER = 1_000_000_000
_ENDPOINT_KEYS = {"name", "engine", "options", "is_imported"}
_ATTEMPT_KEYS = {
    *("number", "parent", "name", "note", "endpoint", "template", "knobs", "fields", "depth", "escape", "is_archived"),
}
_RUN_KEYS = {
    *("number", "attempt", "name", "note", "status", "reason", "version", "rows", "queries", "seconds"),
    *("created_at", "started_at", "finished_at", "config"),
}
_CONFIG_KEYS = {
    "engine",
    "endpoint",
    "template",
    "knobs",
    "fields",
    "depth",
    "escape",
    "options",
    "imported",
    "mapping",
}
_RANKING_KEYS = {"run", "query", "text", "options", "at", "total", "took_ms", "error_kind", "error", "hits"}
_FINISHED = set(Run.Status.values) - set(Run.ACTIVE_STATUSES)
_NO_ADDRESS = "The file does not contain its address. Choose an endpoint for it, or create one first."


def parse_case(file: IO[bytes]) -> CaseContent:
    """Reads a case, and checks all of it. Ratings and rankings stay in the file, which must stay open until it is imported.

    Raises `BadFile` with the location and the value.
    """
    content = read_file(file, kind=CASE)
    endpoints = _endpoints(content)
    attempts = _attempts(content, endpoints)
    run_list = _runs(content, {attempt.number for attempt in attempts})
    _check_rankings(file, content, {run.number for run in run_list})
    return CaseContent(
        name=content.name,
        queries=[
            QueryContent(text, details, in_case=text not in content.outside)
            for text, details in content.details.items()
        ],
        links=content.links,
        remarks=content.remarks,
        scorers=[_scorer(element) for element in content.elements.get("scorers", ())],
        attempts=attempts,
        scale=content.scale,
        options=content.options,
        knob_ranges=_knob_ranges(content),
        stream=content.stream,
        book=content.book,
        runs=run_list,
        rankings=partial(_read_rankings, file, content),
        keeps_history=True,
    )


def _knob_ranges(content: RelevancyFile) -> dict[str, KnobRange]:
    ranges = {}
    for name, values in content.knob_ranges.items():
        is_range = isinstance(values, list) and len(values) == 3
        if not is_range or any(isinstance(value, bool) or not isinstance(value, int | float) for value in values):
            raise BadFile(f"knob_ranges: {quote(name)} must have three numbers, not {quote(values)}")
        ranges[name] = KnobRange(*map(float, values))
    return ranges


def _scorer(element: Fields) -> ScorerContent:
    try:
        name, description, definition = read_definition(element.members)
    except BadFile as error:
        raise BadFile(f"{element.location}.{error}") from None
    return ScorerContent(name, definition, description, is_exact=True)


def _endpoints(content: RelevancyFile) -> dict[str, EndpointContent]:
    by_name: dict[str, EndpointContent] = {}
    for element in content.elements.get("endpoints", ()):
        check_keys(element, _ENDPOINT_KEYS)
        name, engine = element.text("name"), element.text("engine")
        if not name or name in by_name or not engine or len(engine) > 30:
            raise BadFile(f"{element.location}: an endpoint must have a name of its own and an engine.")
        by_name[name] = EndpointContent(
            name=name,
            engine=engine,
            options=element.mapping("options"),
            problem=_NO_ADDRESS,
            is_imported=element.flag("is_imported"),
        )
    return by_name


def _attempts(content: RelevancyFile, endpoints: Mapping[str, EndpointContent]) -> list[AttemptContent]:
    attempts: dict[int, AttemptContent] = {}
    for element in content.elements.get("attempts", ()):
        check_keys(element, _ATTEMPT_KEYS)
        number = _positive(element, "number")
        parent = None if element.members.get("parent") is None else _positive(element, "parent")
        if attempts and number <= max(attempts):
            raise element.error("number", f"{number} does not follow {max(attempts)}; numbers must ascend")
        if parent is not None and parent not in attempts:
            raise element.error("parent", f"there is no attempt {parent} before this one")
        endpoint = endpoints.get(element.text("endpoint"))
        if endpoint is None:
            raise element.error(
                "endpoint", f"{quote(element.text('endpoint'))} is not one of the endpoints of the file"
            )
        attempts[number] = AttemptContent(
            template=read_lines(element, "template"),
            endpoint=endpoint,
            number=number,
            parent=parent,
            name=element.text("name"),
            note=element.text("note"),
            knobs=_knobs(element),
            fields=element.text("fields"),
            depth=element.whole_number("depth", 10),
            escape=element.flag("escape"),
            is_archived=element.flag("is_archived"),
        )
    return list(attempts.values())


def _knobs(element: Fields) -> dict[str, Any]:
    knobs = element.mapping("knobs")
    for name, value in knobs.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e12:
            raise element.error("knobs", f"{quote(name)} must be a number, not {quote(value)}")
    return knobs


def _runs(content: RelevancyFile, attempts: set[int]) -> list[Run]:
    by_number: dict[int, Run] = {}
    for element in content.elements.get("runs", ()):
        check_keys(element, _RUN_KEYS)
        number, attempt = _positive(element, "number"), _positive(element, "attempt")
        if number in by_number:
            raise element.error("number", f"run {number} occurs for the second time")
        if attempt not in attempts:
            raise element.error("attempt", f"there is no attempt {attempt}")
        if element.text("status") not in _FINISHED:
            raise element.error(
                "status", f"{quote(element.text('status'))} is not one of {', '.join(sorted(_FINISHED))}"
            )
        created_at = read_time(element, "created_at")
        if created_at is None:
            raise element.error("created_at", "this is missing")
        seconds = element.number("seconds") or 0
        if seconds < 0:
            raise element.error("seconds", f"{seconds:g} is negative")
        by_number[number] = Run(
            number=number,
            attempt=Attempt(number=attempt),
            status=element.text("status"),
            config=_config(element),
            created_at=created_at,
            rows=_positive(element, "rows"),
            queries=element.whole_number("queries", 0),
            name=element.text("name"),
            note=element.text("note"),
            reason=element.text("reason"),
            version=element.text("version"),
            seconds=seconds,
            started_at=read_time(element, "started_at"),
            finished_at=read_time(element, "finished_at"),
        )
    return list(by_number.values())


def _config(element: Fields) -> dict[str, Any]:
    """Returns the copy of an attempt that a run was made with. It has no address: nothing is sent there."""
    config = Fields(element.members.get("config"), f"{element.location}.config")
    check_keys(config, _CONFIG_KEYS)
    return {
        "engine": config.text("engine"),
        "endpoint": config.text("endpoint"),
        "url": "",
        "template": config.text("template"),
        "knobs": _knobs(config),
        "fields": config.text("fields"),
        "depth": _positive(config, "depth"),
        "escape": config.flag("escape"),
        "options": config.mapping("options"),
        **({"mapping": mapping} if (mapping := config.mapping("mapping")) else {}),
        **({"imported": True} if config.flag("imported") else {}),
    }


def _check_rankings(file: IO[bytes], content: RelevancyFile, numbers: set[int]) -> None:
    """Refuses rankings of unknown runs and queries, and such as are not together for each run."""
    current, seen = 0, set[int]()
    texts: set[str] = set()
    for element, number, text, _ in _all_rankings(file, content):
        if number not in numbers:
            raise element.error("run", f"there is no run {number}")
        if text not in content.details:
            raise element.error("query", f"{quote(text)} is not one of the queries")
        if number != current:
            if number in seen:
                raise element.error("run", f"the rankings of run {number} must follow each other")
            seen.add(number)
            current, texts = number, set()
        if text in texts:
            raise element.error("query", f"run {number} has two rankings of {quote(text)}")
        texts.add(text)


def _read_rankings(file: IO[bytes], content: RelevancyFile) -> Iterator[tuple[int, str, Ranking]]:
    for _, number, text, ranking in _all_rankings(file, content):
        yield number, text, ranking


def _all_rankings(file: IO[bytes], content: RelevancyFile) -> Iterator[tuple[Fields, int, str, Ranking]]:
    if content.has_rankings:
        for element in read_elements(file, "rankings"):
            yield element, *_ranking(element)


def _ranking(element: Fields) -> tuple[int, str, Ranking]:
    check_keys(element, _RANKING_KEYS)
    text, at = element.text("query"), read_time(element, "at")
    if at is None:
        raise element.error("at", "this is missing")
    error_kind = element.text("error_kind")
    if len(error_kind) > 20:
        raise element.error("error_kind", f"{quote(error_kind)} is too long")
    ranking = Ranking(
        text=element.text("text", text)[:2048],
        hits=_hits(element),
        asked_at=at,
        options=element.mapping("options"),
        total=_count(element, "total"),
        took_ms=_count(element, "took_ms"),
        error_kind=error_kind,
        error=element.text("error"),
    )
    return _positive(element, "run"), text, ranking


def _hits(element: Fields) -> list[Any]:
    """Returns the hits as `Ranking.hits` has them: `[document id, score or null, {field: value}, {field: snippet}]`."""
    hits = element.items("hits")
    if len(hits) > MAX_HITS:
        raise element.error("hits", f"there are {len(hits):,}; at most {MAX_HITS:,} are possible")
    for hit in hits:
        is_hit = (
            isinstance(hit, list)
            and len(hit) in (3, 4)
            and isinstance(hit[0], str)
            and 0 < len(hit[0]) <= 500
            and (hit[1] is None or (isinstance(hit[1], int | float) and not isinstance(hit[1], bool)))
            and all(isinstance(part, dict) for part in hit[2:])
        )
        if not is_hit:
            raise element.error("hits", f'a hit must be like ["id", 1.5, {{"title": "…"}}], not {quote(hit)}')
    return hits


def _count(element: Fields, key: str) -> int | None:
    if element.members.get(key) is None:
        return None
    number = element.whole_number(key, 0)
    if not 0 <= number <= 2**53 or (key == "took_ms" and number > 2**31 - 1):
        raise element.error(key, f"{number} is not a valid number")
    return number


def _positive(element: Fields, key: str) -> int:
    number = element.whole_number(key, 0)
    if not 1 <= number <= MAX_NUMBER:
        raise element.error(key, f"this must be a whole number from 1 up, not {quote(element.members.get(key))}")
    return number
