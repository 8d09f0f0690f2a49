"""A book as Quepid exports it: query/document pairs with everybody's judgements, as JSON or that in a ZIP file.

The file is read twice, piece by piece: once to check it and to say what would be imported, and once to store it. Memory grows with
the number of queries, not with that of judgements and not with the fields of documents, which are not kept.
"""

import math
from collections.abc import Iterator
from typing import IO, Any

from django.core.exceptions import ValidationError

from relevancy import ratings
from relevancy.formats.archives import open_json
from relevancy.formats.cases.case_content import (
    UNKNOWN_RATER,
    BookContent,
    RatingContent,
    RatingStream,
    Scale,
    check_query,
)
from relevancy.formats.errors import BadFile
from relevancy.formats.json_stream import read_members
from relevancy.models import Book, Verdict
from relevancy.models.errors import error_text
from relevancy.queries import QueryDetails
from relevancy.wording import counted

from .fields import Fields
from .scorers import read_scale

MAX_BYTES = 1024 * 1024 * 1024  # unpacked
MAX_QUERIES = 200_000
MAX_RATERS = 10_000
MAX_GRADE = 100


def read_book(file: IO[bytes]) -> BookContent:
    """Checks a whole file and returns what it contains. Raises `BadFile` with the location and the value."""
    reader = _BookReader(file)
    raters: set[str] = set()
    count, lowest, top = 0, math.inf, -math.inf
    for _, rating in reader.ratings():
        raters.add(rating.rater)
        count += 1
        if rating.value is not None:
            lowest, top = min(lowest, rating.value), max(top, rating.value)
        if len(reader.details) > MAX_QUERIES or len(raters) > MAX_RATERS:
            raise BadFile(f"The file has more than {MAX_QUERIES:,} queries or {MAX_RATERS:,} raters. Split it.")
    return reader.finish(RatingStream(count, frozenset(raters), _BookReader(file).ratings), lowest, top)


class _BookReader:
    """Reads the pairs of a file. details: those of the queries that have been read so far."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._members: dict[str, Any] = {}
        self._pairs = self._empty = self._without = 0
        self.details: dict[str, QueryDetails] = {}

    def ratings(self) -> Iterator[tuple[str, RatingContent]]:
        """Yields the text of the query and the rating of each judgement."""
        self._members = {}
        self._pairs = 0
        with open_json(self._file) as file:
            for key, value in read_members(file, limit=MAX_BYTES, lists=("query_doc_pairs",), wrappers=("book",)):
                if key == "query_doc_pairs" and isinstance(value, dict):
                    self._pairs += 1
                    yield from self._read_pair(Fields(value, f"query_doc_pairs[{self._pairs}]"))
                else:
                    self._members[key] = value
        if "query_doc_pairs" in self._members:
            raise BadFile("query_doc_pairs: this must be a list of objects.")
        if not self._pairs and "name" not in self._members:
            raise BadFile("This is not a book exported by Quepid: query_doc_pairs and name are missing.")

    def _read_pair(self, pair: Fields) -> Iterator[tuple[str, RatingContent]]:
        query = check_query(pair.text("query_text"), f"{pair.location}.query_text")
        self._describe(query, pair)
        unnamed = 0
        judged = list(pair.objects("judgements"))
        self._empty += not judged
        try:
            doc_id = ratings.clean_doc_id(pair.text("doc_id")) if judged else ""
        except ValidationError as error:
            raise BadFile(f"{pair.location}.doc_id: {error_text(error)}") from None
        for judgement in judged:
            value = judgement.number("rating")
            if value is not None and not 0 <= value <= MAX_GRADE:
                raise judgement.error("rating", f"{value:g} is not a rating from 0 to {MAX_GRADE}")
            verdict = _verdict(judgement, value)
            if verdict is None:
                self._without += 1
                continue
            rater = judgement.line("user_email")
            if not rater:  # several people can judge a pair without a name
                unnamed += 1
                rater = UNKNOWN_RATER if unnamed == 1 else f"{UNKNOWN_RATER} {unnamed}"
            yield query, RatingContent(doc_id, rater, verdict, value, judgement.text("explanation").strip())

    def _describe(self, query: str, pair: Fields) -> None:
        present = self.details.get(query)
        if present is None or not (present.information_need and present.notes):
            self.details[query] = QueryDetails(
                information_need=(present and present.information_need) or pair.text("information_need"),
                notes=(present and present.notes) or pair.text("notes"),
            )

    def finish(self, ratings: RatingStream, lowest: float, top: float) -> BookContent:
        """Returns the content once everything has been read. lowest, top: of all ratings."""
        book = Fields(self._members, "")
        remarks: list[str] = []
        scale = read_scale(book)
        if scale is None and isinstance(self._members.get("scorer"), dict):  # an older file
            scale = read_scale(Fields(self._members["scorer"], "scorer"))
        if top >= lowest:
            scale = _with_grades(scale, lowest, top, remarks)
        if self._empty:
            remarks.append(
                f"{self._empty:,} of {self._pairs:,} pairs have no judgement and are left out: what is to be judged here comes from "
                "the runs of a case."
            )
        if self._without:
            remarks.append(
                f"{counted(self._without, 'judgement without a rating was', 'judgements without a rating were')} left out."
            )
        remarks.append(
            "Fields of documents and their positions are not kept: they are displayed from the runs of a case."
        )
        rule = Book.Rule.QUEPID
        if book.flag("support_implicit_judgements"):
            rule = Book.Rule.LOWEST_OF_THREE
            remarks.append(
                "The lowest of the three highest ratings of a document counts. Where there are two, Quepid takes their mean; here the "
                "lower one counts."
            )
        else:
            remarks.append(
                "Ratings of a document are combined as in Quepid: of one or two the mean counts, rounded to a whole number, of "
                "more the lowest of the three highest."
            )
        name = book.text("name").strip() or "Book from Quepid"
        return BookContent(name, ratings, self.details, scale, rule=rule, remarks=remarks)


def _verdict(judgement: Fields, value: float | None) -> Verdict | None:
    if value is not None:
        return Verdict.RATED
    if judgement.flag("unrateable"):
        return Verdict.CANNOT
    return Verdict.LATER if judgement.flag("judge_later") else None


def _with_grades(scale: Scale | None, lowest: float, top: float, remarks: list[str]) -> Scale:
    """Returns a scale that has all ratings: that of the file, with more grades if it needs them."""
    first = math.floor(min(lowest, scale[0][0] if scale else 0))
    last = math.ceil(max(top, scale[-1][0] if scale else first + 1))
    if scale is not None and (first, last) == (scale[0][0], scale[-1][0]):
        return scale
    labels = {float(grade): label for grade, label in scale or []}
    file_scale = f"the scale of the file is {scale[0][0]}–{scale[-1][0]}" if scale else "the file has no scale"
    remarks.append(f"Ratings are from {lowest:g} to {top:g}; {file_scale}. The book gets the scale {first}–{last}.")
    return [[grade, labels.get(float(grade), "")] for grade in range(first, last + 1)]
