"""Files in our own format, `relevancy/1`, read piece by piece: memory does not grow with the number of ratings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from django.core.exceptions import ValidationError

from relevancy import queries, ratings
from relevancy.formats.archives import open_json
from relevancy.formats.cases.case_content import BookContent, RatingContent, RatingStream, check_query
from relevancy.formats.errors import BadFile, quote
from relevancy.formats.json_stream import read_members
from relevancy.models import Verdict
from relevancy.models.errors import error_text
from relevancy.models.text import validate_line
from relevancy.queries import QueryDetails
from relevancy.scoring import Scale as ScoringScale
from relevancy.scoring.errors import ScoringError
from relevancy.wording import counted

from .schema import (
    AttemptElement,
    Element,
    EndpointElement,
    Head,
    LinkElement,
    QueryElement,
    RankingElement,
    RatingElement,
    RunElement,
    ScorerElement,
)
from .writer import BOOK, CASE, FORMAT

MAX_BYTES = 1024 * 1024 * 1024  # unpacked
MAX_QUERIES = 200_000
MAX_RATERS = 10_000
MAX_ELEMENTS = 10_000  # of a list that is kept in memory
_SCHEMAS: Mapping[str, type[Element]] = {
    "queries": QueryElement,
    "links": LinkElement,
    "ratings": RatingElement,
    "scorers": ScorerElement,
    "endpoints": EndpointElement,
    "attempts": AttemptElement,
    "runs": RunElement,
    "rankings": RankingElement,
}
_LISTS = tuple(_SCHEMAS)
_MEMBERS_OF_CASE = {"options", "knob_ranges", "apps", "scorers", "endpoints", "attempts", "runs", "rankings"}
_SHARED = (
    "In the file, linked queries share their ratings. Here each query has those that were given for it; “Copy ratings” on the page of "
    "linked queries copies them."
)
_RATED = Verdict.RATED.value
_VERDICTS = sorted((Verdict.CANNOT.value, Verdict.LATER.value))


@dataclass
class RelevancyFile:
    """What a file contains. elements: those of the lists but queries, links, ratings and rankings.

    outside: queries that only the book of a case has; in files of earlier versions, whose linked queries could share ratings.
    """

    head: Head
    book: BookContent
    elements: Mapping[str, list[Any]]
    has_rankings: bool
    outside: frozenset[str]


def read_file(file: IO[bytes], *, kind: str) -> RelevancyFile:
    """Checks a whole file, which may be in a ZIP file. Raises `BadFile` with the location and the value.

    kind: "case" or "book"; a file of another kind is refused. The file must stay open as long as the result is used.
    """
    return _Reader(file, kind).read()


def read_book(file: IO[bytes]) -> BookContent:
    """Checks a whole file with a book. Raises `BadFile` with the location and the value. The file must stay open."""
    return read_file(file, kind=BOOK).book


def read_elements[E: Element](file: IO[bytes], key: str, schema: type[E]) -> Iterator[E]:
    """Yields the elements of one list of a file that `read_file` has read."""
    with open_json(file) as opened:
        members = read_members(opened, limit=MAX_BYTES, lists=_LISTS)
        for number, value in enumerate((value for name, value in members if name == key), 1):
            yield schema.read(value, f"{key}[{number}]")


class _Reader:
    def __init__(self, file: IO[bytes], kind: str) -> None:
        self._file = file
        self._kind = kind
        self._members: dict[str, Any] = {}
        self._details: dict[str, QueryDetails] = {}
        self._elements: dict[str, list[Any]] = {}
        self._numbers: dict[str, int] = {}
        self._rated: set[int] = set()
        self._adjudicated: set[int] = set()
        self._ratings = _RatingReader()
        self._outside: set[str] = set()
        self._links: list[tuple[LinkElement, Sequence[str]]] = []
        self._has_shared = False

    def read(self) -> RelevancyFile:
        with open_json(self._file) as opened:
            for key, value in read_members(opened, limit=MAX_BYTES, lists=_LISTS):
                self._take(key, value)
        head = self._read_head()
        settings = head.book
        grades = [float(grade) for grade, _ in settings.scale]
        relevant_from = self._ratings.check_scale(grades, settings.relevant_from)
        self._check_links()
        book = BookContent(
            name=settings.name if self._kind == CASE else head.name,
            ratings=RatingStream(
                self._numbers.get("ratings", 0), frozenset(self._ratings.raters), read=self._read_again
            ),
            details=self._details,
            scale=settings.scale,
            relevant_from=relevant_from,
            rule=settings.rule,
            guidelines=settings.guidelines,
            raters_are_blind=settings.raters_are_blind,
            links=[texts for _, texts in self._links],
            remarks=[_SHARED] if self._has_shared else [],
        )
        has_rankings = "rankings" in self._numbers
        return RelevancyFile(head, book, self._elements, has_rankings, frozenset(self._outside))

    def _read_head(self) -> Head:
        """Refuses a file of another format, version or kind, with members that no such file has."""
        file_format, kind = self._members.get("format"), self._members.get("kind")
        if file_format != FORMAT:
            raise BadFile(
                f"format: this must be {FORMAT!r}, not {quote(file_format)}. The file is of another format or version; export it again."
            )
        if kind != self._kind:
            raise BadFile(f"kind: this file contains a {kind}, not a {self._kind}. Import it as such.")
        case_members = _MEMBERS_OF_CASE & (self._members.keys() | self._numbers.keys())
        if case_members and kind == BOOK:
            raise BadFile(f"{quote(min(case_members))} is not a member of a file with a book.")
        return Head.read(self._members, "")

    def _take(self, key: str, value: Any) -> None:
        if key not in _LISTS:
            if key in self._members:
                raise BadFile(f"{quote(key)} occurs twice.")
            self._members[key] = value
            return
        if not isinstance(value, dict):
            raise BadFile(f"{key}: this must be a list of objects, not {quote(value)}.")
        number = self._numbers[key] = self._numbers.get(key, 0) + 1
        element: Any = _SCHEMAS[key].read(value, f"{key}[{number}]")
        if key == "queries":
            self._take_query(element)
        elif key == "links":
            self._take_link(element)
        elif key == "ratings":
            self._take_rating(element)
        elif key != "rankings":
            kept = self._elements.setdefault(key, [])
            kept.append(element)
            if len(kept) > MAX_ELEMENTS:
                raise BadFile(f"{key}: there are more than {MAX_ELEMENTS:,}.")

    def _take_query(self, element: QueryElement) -> None:
        text = check_query(element.query, f"{element.location}.query")
        if text in self._details:
            raise element.refuse("query", f"the query {quote(text)} occurs for the second time")
        self._details[text] = QueryDetails(**element.model_dump(exclude={"query", "in_case"}))
        if not element.in_case:
            self._outside.add(text)
        if len(self._details) > MAX_QUERIES:
            raise BadFile(f"The file has more than {MAX_QUERIES:,} queries. Split it.")

    def _take_link(self, element: LinkElement) -> None:
        if not 2 <= len(element.queries) <= queries.MAX_LINKED:
            count = counted(len(element.queries), "query", "queries")
            raise element.refuse("queries", f"{count} cannot be linked, only 2 to {queries.MAX_LINKED}")
        self._links.append((element, [check_query(text, f"{element.location}.queries") for text in element.queries]))
        self._has_shared |= element.shares_ratings
        if len(self._links) > MAX_QUERIES:
            raise BadFile(f"The file has more than {MAX_QUERIES:,} links. Split it.")

    def _check_links(self) -> None:
        """Refuses links of unknown queries, and queries that are linked twice."""
        linked: set[str] = set()
        for element, texts in self._links:
            for text in texts:
                if text not in self._details:
                    raise element.refuse("queries", f"{quote(text)} is not one of the queries of the file")
                if text in linked:
                    raise element.refuse("queries", f"{quote(text)} is linked for the second time")
                linked.add(text)

    def _take_rating(self, element: RatingElement) -> None:
        text, rating = self._ratings.read(element)
        if text not in self._details:
            raise element.refuse(
                "query", f"{quote(text)} is not one of the queries, which must come before the ratings"
            )
        # The hashes alone are kept: a million of them take 70 MB less than the texts.
        key = hash((text, rating.doc_id, rating.rater))
        if key in self._rated:
            raise element.refuse(
                "document",
                f"{quote(rating.doc_id)} is rated for the second time for {quote(text)} by {quote(rating.rater)}",
            )
        self._rated.add(key)
        if rating.is_adjudication:
            key = hash((text, rating.doc_id))
            if key in self._adjudicated:
                raise element.refuse("is_adjudication", f"document {quote(rating.doc_id)} has two adjudications")
            self._adjudicated.add(key)

    def _read_again(self) -> Iterator[tuple[str, RatingContent]]:
        reader = _RatingReader()
        for element in read_elements(self._file, "ratings", RatingElement):
            yield reader.read(element)


class _RatingReader:
    """Reads ratings, and remembers the raters and where each grade was first."""

    def __init__(self) -> None:
        self.raters: set[str] = set()
        self._grades: dict[float, str] = {}

    def read(self, element: RatingElement) -> tuple[str, RatingContent]:
        try:
            doc_id = ratings.clean_doc_id(element.document)
        except ValidationError as error:
            raise element.refuse("document", error_text(error).removesuffix(".")) from None
        rater, value, verdict = element.rater, element.rating, element.verdict
        if rater not in self.raters:
            rater = rater.strip()
            try:
                validate_line(rater)
            except ValidationError as error:
                raise element.refuse("rater", f"{quote(rater)}: {error_text(error)}".removesuffix(".")) from None
            self.raters.add(rater)
            if len(self.raters) > MAX_RATERS:
                raise BadFile(f"The file has more than {MAX_RATERS:,} raters. Split it.")
        if (value is None) == (verdict == _RATED) or not (verdict == _RATED or verdict in _VERDICTS):
            raise BadFile(f"{element.location}: a rating has either a rating, or the verdict {' or '.join(_VERDICTS)}.")
        if element.is_adjudication and value is None:
            raise element.refuse("is_adjudication", "an adjudication must have a rating")
        if value is not None:
            self._grades.setdefault(value, element.location)
        return element.query, RatingContent(
            doc_id, rater, verdict, value, element.note, element.at, element.is_adjudication
        )

    def check_scale(self, grades: Sequence[float], relevant_from: float | None) -> float:
        """Refuses ratings that are not on the scale, and a threshold that does not suit it. Returns the threshold."""
        try:
            on_scale = ScoringScale(tuple(grades), *([] if relevant_from is None else [relevant_from]))
        except ScoringError as error:
            raise BadFile(f"book.scale: {error}") from None
        if not on_scale.contains(on_scale.relevant_from):
            raise BadFile(
                f"book.relevant_from: {on_scale.relevant_from:g} is not on the scale {grades[0]:g} to {grades[-1]:g}."
            )
        for value, location in self._grades.items():
            if not on_scale.contains(value):
                raise BadFile(
                    f"{location}.rating: {value:g} is not on the scale of the book, {grades[0]:g} to {grades[-1]:g}."
                )
        return on_scale.relevant_from
