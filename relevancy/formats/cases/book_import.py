"""Makes a book of what a file contains, everything or nothing."""

from django.db import IntegrityError

from relevancy import books, scoring
from relevancy.formats.errors import BadFile
from relevancy.models import Book, User

from .case_content import BookContent
from .case_import import SOURCE

_REPEATED = (
    "The file has two judgements of the same document for the same query by the same person. Remove one of them."
)


def import_book(*, content: BookContent, by: User, name: str = "") -> Book:
    """Creates a book that belongs to `by`, all or nothing, in short transactions.

    content: what `read_book` returned for a file, which is still open.
    Raises `BadFile` or `ValidationError`; then nothing is created.
    """
    if content.scale is None:
        raise BadFile("The file has no scale and no ratings, so there is no book to make of it.")
    relevant_from = content.relevant_from
    if relevant_from is None:
        relevant_from = scoring.Scale(tuple(float(grade) for grade, _ in content.scale)).relevant_from
    book = Book(
        name=name or content.name,
        owner=by,
        scale=content.scale,
        relevant_from=relevant_from,
        rule=content.rule,
        guidelines=content.guidelines,
        raters_are_blind=content.raters_are_blind,
    )
    try:
        with books.build_book(book=book, by=by, source=SOURCE) as builder:
            ids = builder.add_queries(content.details)
            builder.add_links([ids[text] for text in texts] for texts in content.links)
            raters = builder.ensure_raters(content.ratings.names)
            builder.store(content.ratings.rows(ids, raters))
    except IntegrityError:
        raise BadFile(_REPEATED) from None
    return book
