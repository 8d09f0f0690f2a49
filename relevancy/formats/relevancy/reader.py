"""Files in our own format, `relevancy/1`, read piece by piece: memory does not grow with the number of ratings."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, Any

from django.core.exceptions import ValidationError

from relevancy import queries, ratings
from relevancy.formats.archives import open_json
from relevancy.formats.cases.case_content import BookSettingsContent, RatingContent, RatingStream, Scale
from relevancy.formats.errors import BadFile, quote
from relevancy.formats.json_stream import Fields, JsonFile, read_members
from relevancy.formats.ratings.checked_ratings import check_query
from relevancy.models import Book, Verdict
from relevancy.models.errors import error_text
from relevancy.queries import QueryDetails
from relevancy.scoring import Scale as ScoringScale
from relevancy.scoring.errors import ScoringError
from relevancy.wording import counted

from .scorer_file import read_scale
from .writer import BOOK, CASE, FORMAT

MAX_BYTES = 1024 * 1024 * 1024  # unpacked
MAX_QUERIES = 200_000
MAX_RATERS = 10_000
MAX_ELEMENTS = 10_000  # of a list that is kept in memory
MAX_NAME = 191
HEAD = 64 * 1024  # bytes in which the format is looked for
_FORMAT = re.compile(rb'"format"\s*:\s*"relevancy[/-]')
_HEAD = {"format", "kind", "name", "book"}
_KINDS = {
    CASE: (
        _HEAD | {"options", "knob_ranges"},
        ("scorers", "endpoints", "attempts", "queries", "links", "ratings", "runs", "rankings"),
    ),
    BOOK: (_HEAD, ("queries", "links", "ratings")),
}
_LISTS = _KINDS[CASE][1]
_QUERY_KEYS = {"query", "information_need", "reference_answer", "notes", "tags", "options", "weight"}
_KEYS_OF_KIND = {CASE: _QUERY_KEYS | {"in_case"}, BOOK: _QUERY_KEYS}
_LINK_KEYS = {"queries", "shares_ratings"}  # the second one is of earlier versions
_SHARED = (
    "In the file, linked queries share their ratings. Here each query has those that were given for it; “Copy ratings” on the page of "
    "linked queries copies them."
)
_RATING_KEYS = {"query", "document", "rater", "rating", "verdict", "at", "note", "is_adjudication"}
_BOOK_KEYS = {"name", "scale", "relevant_from", "rule", "guidelines"}
_RATED = Verdict.RATED.value
_VERDICTS = {Verdict.CANNOT.value, Verdict.LATER.value}


def is_relevancy_file(file: IO[bytes]) -> bool:
    """Returns whether a JSON file, which may be in a ZIP file, names our format near its beginning, of any version."""
    with open_json(file) as opened:
        head = opened.read(HEAD)
    file.seek(0)
    return _FORMAT.search(head) is not None


@dataclass
class RelevancyFile:
    """What a file contains. elements: the objects of the lists but queries, links, ratings and rankings.

    outside: queries that only the book of a case has; in files of earlier versions, whose linked queries could share ratings.
    remarks: what is changed.
    """

    kind: str
    name: str
    options: Mapping[str, Any]
    knob_ranges: Mapping[str, Any]
    scale: Scale
    book: BookSettingsContent
    details: dict[str, QueryDetails]
    stream: RatingStream
    elements: Mapping[str, list[Fields]] = field(default_factory=dict)
    has_rankings: bool = False
    outside: frozenset[str] = frozenset()
    links: Sequence[Sequence[str]] = ()
    remarks: Sequence[str] = ()


def read_file(file: IO[bytes], *, kind: str) -> RelevancyFile:
    """Checks a whole file, which may be in a ZIP file. Raises `BadFile` with the location and the value.

    kind: "case" or "book"; a file of another kind is refused. The file must stay open as long as the result is used.
    """
    return _Reader(file, kind).read()


def read_elements(file: IO[bytes], key: str) -> Iterator[Fields]:
    """Yields the objects of one list of a file that `read_file` has read."""
    with open_json(file) as opened:
        number = 0
        for name, value in read_members(JsonFile(opened, limit=MAX_BYTES), lists=_LISTS):
            if name == key and isinstance(value, dict):
                number += 1
                yield Fields(value, f"{key}[{number}]")


class _Reader:
    def __init__(self, file: IO[bytes], kind: str) -> None:
        self._file = file
        self._kind = kind
        self._members: dict[str, Any] = {}
        self._details: dict[str, QueryDetails] = {}
        self._elements: dict[str, list[Fields]] = {}
        self._numbers: dict[str, int] = {}
        self._rated: set[int] = set()
        self._adjudicated: set[int] = set()
        self._ratings = _RatingReader()
        self._outside: set[str] = set()
        self._links: list[tuple[Fields, Sequence[str]]] = []
        self._has_shared = False

    def read(self) -> RelevancyFile:
        with open_json(self._file) as opened:
            for key, value in read_members(JsonFile(opened, limit=MAX_BYTES), lists=_LISTS):
                self._take(key, value)
        self._check_head()
        top = Fields(self._members, "")
        book, scale = _read_book(Fields(self._members.get("book"), "book"))
        self._ratings.check_scale(book, scale)
        self._check_links()
        return RelevancyFile(
            kind=self._kind,
            name=_text(top, "name", MAX_NAME),
            options=top.mapping("options"),
            knob_ranges=top.mapping("knob_ranges"),
            scale=scale,
            book=book,
            details=self._details,
            stream=RatingStream(
                count=self._numbers.get("ratings", 0), raters=frozenset(self._ratings.raters), read=self._read_again
            ),
            elements=self._elements,
            has_rankings="rankings" in self._numbers,
            outside=frozenset(self._outside),
            links=[texts for _, texts in self._links],
            remarks=[_SHARED] if self._has_shared else [],
        )

    def _check_head(self) -> None:
        """Refuses a file of another format, version or kind, with members that no such file has."""
        file_format = self._members.get("format")
        if file_format != FORMAT:
            raise BadFile(
                f"format: this must be {FORMAT!r}, not {quote(file_format)}. The file is of another format or version; export it again."
            )
        if self._members.get("kind") != self._kind:
            raise BadFile(
                f"kind: this file contains a {self._members.get('kind')}, not a {self._kind}. Import it as such."
            )
        single, lists = _KINDS[self._kind]
        for key in sorted(self._members.keys() | self._numbers.keys()):
            if key not in single and key not in lists:
                raise BadFile(f"{quote(key)} is not a member of a file with a {self._kind}.")

    def _take(self, key: str, value: Any) -> None:
        if key not in _LISTS:
            if key in self._members:
                raise BadFile(f"{quote(key)} occurs twice.")
            self._members[key] = value
            return
        if not isinstance(value, dict):
            raise BadFile(f"{key}: this must be a list of objects, not {quote(value)}.")
        number = self._numbers[key] = self._numbers.get(key, 0) + 1
        element = Fields(value, f"{key}[{number}]")
        if key == "queries":
            self._take_query(element)
        elif key == "links":
            self._take_link(element)
        elif key == "ratings":
            self._take_rating(element)
        elif key == "rankings":
            return
        else:
            kept = self._elements.setdefault(key, [])
            kept.append(element)
            if len(kept) > MAX_ELEMENTS:
                raise BadFile(f"{key}: there are more than {MAX_ELEMENTS:,}.")

    def _take_query(self, element: Fields) -> None:
        check_keys(element, _KEYS_OF_KIND.get(self._kind, _QUERY_KEYS))
        text = check_query(element.text("query"), f"{element.location}.query")
        if text in self._details:
            raise element.error("query", f"the query {quote(text)} occurs for the second time")
        weight = element.number("weight")
        tags = element.items("tags")
        if not all(isinstance(tag, str) for tag in tags):
            raise element.error("tags", f"these must be strings, not {quote(tags)}")
        self._details[text] = QueryDetails(
            information_need=element.text("information_need"),
            reference_answer=element.text("reference_answer"),
            notes=element.text("notes"),
            tags=tags,
            options=element.mapping("options"),
            weight=1 if weight is None else weight,
        )
        if element.members.get("in_case") is not None and not element.flag("in_case"):
            self._outside.add(text)
        if len(self._details) > MAX_QUERIES:
            raise BadFile(f"The file has more than {MAX_QUERIES:,} queries. Split it.")

    def _take_link(self, element: Fields) -> None:
        check_keys(element, _LINK_KEYS)
        texts = element.items("queries")
        if not all(isinstance(text, str) for text in texts):
            raise element.error("queries", f"these must be strings, not {quote(texts)}")
        if not 2 <= len(texts) <= queries.MAX_LINKED:
            raise element.error(
                "queries",
                f"{counted(len(texts), 'query', 'queries')} cannot be linked, only 2 to {queries.MAX_LINKED}",
            )
        checked = [check_query(text, f"{element.location}.queries") for text in texts]
        self._links.append((element, checked))
        self._has_shared |= element.flag("shares_ratings")
        if len(self._links) > MAX_QUERIES:
            raise BadFile(f"The file has more than {MAX_QUERIES:,} links. Split it.")

    def _check_links(self) -> None:
        """Refuses links of unknown queries, and queries that are linked twice."""
        linked: set[str] = set()
        for element, texts in self._links:
            for text in texts:
                if text not in self._details:
                    raise element.error("queries", f"{quote(text)} is not one of the queries of the file")
                if text in linked:
                    raise element.error("queries", f"{quote(text)} is linked for the second time")
                linked.add(text)

    def _take_rating(self, element: Fields) -> None:
        text, rating = self._ratings.read(element)
        if text not in self._details:
            raise element.error("query", f"{quote(text)} is not one of the queries, which must come before the ratings")
        # The hashes alone are kept: a million of them take 70 MB less than the texts.
        key = hash((text, rating.doc_id, rating.rater))
        if key in self._rated:
            raise element.error(
                "document",
                f"{quote(rating.doc_id)} is rated for the second time for {quote(text)} by {quote(rating.rater)}",
            )
        self._rated.add(key)
        if rating.is_adjudication:
            key = hash((text, rating.doc_id))
            if key in self._adjudicated:
                raise element.error("is_adjudication", f"document {quote(rating.doc_id)} has two adjudications")
            self._adjudicated.add(key)

    def _read_again(self) -> Iterator[tuple[str, RatingContent]]:
        reader = _RatingReader()
        for element in read_elements(self._file, "ratings"):
            yield reader.read(element)


class _RatingReader:
    """Reads ratings, and remembers the raters and where each grade was first."""

    def __init__(self) -> None:
        self.raters: set[str] = set()
        self._grades: dict[float, str] = {}

    def read(self, element: Fields) -> tuple[str, RatingContent]:
        if not element.members.keys() <= _RATING_KEYS:
            check_keys(element, _RATING_KEYS)
        text = element.text("query")
        try:
            doc_id = ratings.clean_doc_id(element.text("document"))
        except (ValidationError, ratings.InvalidRating) as error:
            raise BadFile(f"{element.location}.document: {error_text(error)}") from None
        rater = element.text("rater")
        if rater not in self.raters:
            rater = element.line("rater")
            self.raters.add(rater)
            if len(self.raters) > MAX_RATERS:
                raise BadFile(f"The file has more than {MAX_RATERS:,} raters. Split it.")
        value, verdict = element.number("rating"), element.text("verdict", _RATED)
        if (value is None) == (verdict == _RATED) or not (verdict == _RATED or verdict in _VERDICTS):
            raise BadFile(
                f"{element.location}: a rating has either a rating, or the verdict {' or '.join(sorted(_VERDICTS))}."
            )
        is_adjudication = element.flag("is_adjudication")
        if is_adjudication and value is None:
            raise element.error("is_adjudication", "an adjudication must have a rating")
        if value is not None:
            self._grades.setdefault(value, element.location)
        return text, RatingContent(
            doc_id, value, rater, verdict, element.text("note"), read_time(element, "at"), is_adjudication
        )

    def check_scale(self, book: BookSettingsContent, scale: Scale) -> None:
        """Refuses ratings that are not on the scale, and a threshold that does not suit it."""
        grades = tuple(float(grade) for grade, _ in scale)
        try:
            on_scale = ScoringScale(grades, book.relevant_from)
        except ScoringError as error:
            raise BadFile(f"book.scale: {error}") from None
        if not grades[0] <= book.relevant_from <= grades[-1]:
            raise BadFile(
                f"book.relevant_from: {book.relevant_from:g} is not on the scale {grades[0]:g} to {grades[-1]:g}."
            )
        for value, location in self._grades.items():
            if not on_scale.contains(value):
                raise BadFile(
                    f"{location}.rating: {value:g} is not on the scale of the book, {grades[0]:g} to {grades[-1]:g}."
                )


def _read_book(element: Fields) -> tuple[BookSettingsContent, Scale]:
    check_keys(element, _BOOK_KEYS)
    try:
        scale = read_scale(element.members.get("scale"))
    except BadFile as error:
        raise BadFile(f"book.{error}") from None
    rule = element.text("rule", Book.Rule.LATEST.value)
    if rule not in Book.Rule.values:
        raise element.error("rule", f"{quote(rule)} is not a rule. The rules are {', '.join(Book.Rule.values)}")
    relevant_from = element.number("relevant_from")
    if relevant_from is None:
        relevant_from = ScoringScale(tuple(float(grade) for grade, _ in scale)).relevant_from
    book = BookSettingsContent(_text(element, "name", MAX_NAME), relevant_from, rule, read_lines(element, "guidelines"))
    return book, scale


def check_keys(element: Fields, allowed: Collection[str]) -> None:
    """Raises `BadFile` for a member that an object must not have, such as a misspelt one."""
    for key in element.members:
        if key not in allowed:
            raise BadFile(
                f"{element.location}: {quote(key)} is not a member. The members are {', '.join(sorted(allowed))}."
            )


def read_lines(element: Fields, key: str) -> str:
    """Returns a text that is written as a list of lines."""
    lines = element.items(key)
    if not all(isinstance(line, str) for line in lines):
        raise element.error(key, "this must be a list of lines")
    return "\n".join(lines)


def read_time(element: Fields, key: str) -> datetime | None:
    """Returns a time with its offset from UTC; None if it is missing."""
    text = element.text(key)
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise element.error(key, f"{quote(text)} is not a time with an offset, such as 2026-01-31T12:00:00+00:00")
    return moment


def _text(element: Fields, key: str, max_length: int) -> str:
    text = element.text(key).strip()
    if not text or len(text) > max_length:
        raise element.error(key, f"this must have 1 to {max_length} characters, not {len(text):,}")
    return text
