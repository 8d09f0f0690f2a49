"""Makes a book of what a file contains, everything or nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db import IntegrityError

from relevancy import books, ratings, scoring
from relevancy.formats.errors import BadFile
from relevancy.models import Book, User
from relevancy.queries import QueryDetails

from .case_content import RatingStream, Scale
from .case_import import SOURCE, UNKNOWN_RATER

_REPEATED = (
    "The file has two judgements of the same document for the same query by the same person. Remove one of them."
)


@dataclass
class BookContent:
    """What a file contains. details: by query. scale: None if the file has none. remarks: what is changed or left out.

    relevant_from: None for the usual one of the scale. stream: reads the ratings. links: texts of queries that are linked.
    """

    name: str = ""
    scale: Scale | None = None
    rule: str = Book.Rule.LATEST
    details: dict[str, QueryDetails] = field(default_factory=dict)
    raters: set[str] = field(default_factory=set)
    ratings: int = 0
    remarks: list[str] = field(default_factory=list)
    relevant_from: float | None = None
    guidelines: str = ""
    stream: RatingStream | None = None
    links: Sequence[Sequence[str]] = ()


def import_book(*, content: BookContent, by: User, name: str = "") -> Book:
    """Creates a book that belongs to `by`, all or nothing, in short transactions.

    content: what `read_book` returned for a file, which is still open.
    Raises `BadFile` or `ValidationError`; then nothing is created.
    """
    if content.scale is None or content.stream is None:
        raise BadFile("The file has no scale and no ratings, so there is no book to make of it.")
    grades = tuple(float(grade) for grade, _ in content.scale)
    book = Book(
        name=name or content.name,
        owner=by,
        scale=content.scale,
        relevant_from=(scoring.Scale(grades).relevant_from if content.relevant_from is None else content.relevant_from),
        rule=content.rule,
        guidelines=content.guidelines,
    )
    try:
        with books.build_book(book=book, by=by, source=SOURCE) as builder:
            ids = builder.add_queries(content.details)
            builder.add_links([ids[text] for text in texts] for texts in content.links)
            raters = builder.ensure_raters({rater or UNKNOWN_RATER for rater in content.raters})
            builder.store(
                ratings.NewRating(
                    ids[query],
                    rating.doc_id,
                    raters[rating.rater or UNKNOWN_RATER],
                    rating.verdict,
                    rating.value,
                    rating.note,
                    rating.rated_at,
                    rating.is_adjudication,
                )
                for query, rating in content.stream.read()
            )
    except IntegrityError:
        raise BadFile(_REPEATED) from None
    return book
