"""A case in our own format, `relevancy/1`."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import IO, Any

from relevancy import hooks
from relevancy.cases import KnobRange
from relevancy.formats.cases.case_content import (
    AttemptContent,
    CaseContent,
    EndpointContent,
    ScorerContent,
)
from relevancy.formats.errors import BadFile, quote
from relevancy.models import Attempt, Ranking, Run

from .reader import RelevancyFile, read_elements, read_file
from .schema import AttemptElement, EndpointElement, RankingElement, RunElement, is_number
from .writer import CASE

_NO_ADDRESS = "The file does not contain its address. Choose an endpoint for it, or create one first."


def parse_case(file: IO[bytes]) -> CaseContent:
    """Reads a case, and checks all of it. Ratings and rankings stay in the file, which must stay open until it is imported.

    Raises `BadFile` with the location and the value.
    """
    content = read_file(file, kind=CASE)
    elements = content.elements
    attempts = _attempts(elements.get("attempts", ()), _endpoints(elements.get("endpoints", ())))
    runs_by_number = _runs(elements.get("runs", ()), attempts)
    _check_rankings(file, content, runs_by_number)
    parts, remarks = _read_parts(content)
    return CaseContent(
        name=content.head.name,
        book=content.book,
        outside=content.outside,
        scorers=[
            ScorerContent(scorer.name, scorer.definition, scorer.description, is_exact=True)
            for scorer in elements.get("scorers", ())
        ],
        attempts=list(attempts.values()),
        options=content.head.options,
        knob_ranges=_knob_ranges(content),
        runs=list(runs_by_number.values()),
        rankings=partial(_read_rankings, file, content),
        is_complete=True,
        parts=parts,
        remarks=remarks,
    )


def _read_parts(content: RelevancyFile) -> tuple[dict[str, Any], list[str]]:
    """Returns what optional apps of this site have in the file, and a sentence for each app that this site does not have."""
    present = {name: value for name, value in content.head.apps.items() if value is not None}
    known = present.keys() & hooks.case_parts.keys()
    remarks = [
        f"What the file has of the app {quote(name)} is left out: this site does not have the app."
        for name in present
        if name not in known
    ]
    return {
        name: hooks.case_parts[name].read(present[name], f"apps.{name}") for name in present if name in known
    }, remarks


def _knob_ranges(content: RelevancyFile) -> dict[str, KnobRange]:
    ranges = {}
    for name, values in content.head.knob_ranges.items():
        if not isinstance(values, list) or len(values) != 3 or not all(map(is_number, values)):
            raise BadFile(f"knob_ranges: {quote(name)} must have three numbers, not {quote(values)}")
        ranges[name] = KnobRange(*map(float, values))
    return ranges


def _endpoints(elements: Iterable[EndpointElement]) -> dict[str, EndpointContent]:
    by_name: dict[str, EndpointContent] = {}
    for element in elements:
        if element.name in by_name:
            raise element.refuse("name", f"the endpoint {quote(element.name)} occurs for the second time")
        by_name[element.name] = EndpointContent(**element.model_dump(), problem=_NO_ADDRESS)
    return by_name


def _attempts(
    elements: Iterable[AttemptElement], endpoints: Mapping[str, EndpointContent]
) -> dict[int, AttemptContent]:
    attempts: dict[int, AttemptContent] = {}
    for element in elements:
        last = max(attempts, default=0)
        if element.number <= last:
            raise element.refuse("number", f"{element.number} does not follow {last}; numbers must ascend")
        if element.parent is not None and element.parent not in attempts:
            raise element.refuse("parent", f"there is no attempt {element.parent} before this one")
        if element.endpoint not in endpoints:
            raise element.refuse("endpoint", f"{quote(element.endpoint)} is not one of the endpoints of the file")
        members = {**element.model_dump(), "endpoint": endpoints[element.endpoint]}
        attempts[element.number] = AttemptContent(**members)
    return attempts


def _runs(elements: Iterable[RunElement], attempts: Collection[int]) -> dict[int, Run]:
    by_number: dict[int, Run] = {}
    for element in elements:
        if element.number in by_number:
            raise element.refuse("number", f"run {element.number} occurs for the second time")
        if element.attempt not in attempts:
            raise element.refuse("attempt", f"there is no attempt {element.attempt}")
        config = {"url": "", **element.config.model_dump()}
        for key in ("mapping", "imported"):
            if not config[key]:
                del config[key]
        members = {**element.model_dump(), "attempt": Attempt(number=element.attempt), "config": config}
        by_number[element.number] = Run(**members)
    return by_number


def _check_rankings(file: IO[bytes], content: RelevancyFile, numbers: Collection[int]) -> None:
    """Refuses rankings of unknown runs and queries, and such as are not together for each run."""
    current, seen = 0, set[int]()
    texts: set[str] = set()
    for element in _all_rankings(file, content):
        number, text = element.run, element.query
        if number not in numbers:
            raise element.refuse("run", f"there is no run {number}")
        if text not in content.book.details:
            raise element.refuse("query", f"{quote(text)} is not one of the queries")
        if number != current:
            if number in seen:
                raise element.refuse("run", f"the rankings of run {number} must follow each other")
            seen.add(number)
            current, texts = number, set()
        if text in texts:
            raise element.refuse("query", f"run {number} has two rankings of {quote(text)}")
        texts.add(text)


def _read_rankings(file: IO[bytes], content: RelevancyFile) -> Iterator[tuple[int, str, Ranking]]:
    for element in _all_rankings(file, content):
        members = element.model_dump(exclude={"run", "query", "at", "text", "hits"})
        text = (element.text or element.query)[:2048]
        yield element.run, element.query, Ranking.with_hits(element.hits, former_text=text, **members)


def _all_rankings(file: IO[bytes], content: RelevancyFile) -> Iterator[RankingElement]:
    return read_elements(file, "rankings", RankingElement) if content.has_rankings else iter(())
