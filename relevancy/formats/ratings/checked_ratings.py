"""Queries and ratings of files, checked before anything is stored."""

from collections.abc import Iterable
from datetime import datetime

from django.core.exceptions import ValidationError

from relevancy import queries, ratings
from relevancy.formats.cases.case_content import RatingContent
from relevancy.formats.errors import BadFile, quote
from relevancy.formats.json_stream import Fields
from relevancy.models.errors import error_text

# More are left to a command. A case is stored in one transaction: on SQLite, nobody can rate meanwhile. A book is stored in short
# transactions, but a web thread is busy as long.
MAX_ON_PAGE = 50_000
MAX_OF_BOOK_ON_PAGE = 200_000


def check_page_limit(ratings: int, command: str, *, is_book: bool = False) -> None:
    """Raises `BadFile` for more ratings than a page imports. command: which imports them instead."""
    limit = MAX_OF_BOOK_ON_PAGE if is_book else MAX_ON_PAGE
    if ratings > limit:
        raise BadFile(
            f"The file has {ratings:,} ratings; a page imports at most {limit:,}, because that takes long, and others may have to "
            f"wait meanwhile. Ask an administrator of this site to use the command {command}."
        )


def check_query(text: str, location: str) -> str:
    """Returns the text of a query as it is stored. Raises `BadFile`."""
    try:
        return queries.check_text(text)
    except ValidationError as error:
        raise BadFile(f"{location}: {error_text(error)}") from None


class CheckedRatings:
    """The ratings of one query, one for each rater and document."""

    def __init__(self, query: str, ratings: Iterable[RatingContent] = ()) -> None:
        self._query = query
        self._rows = {(rating.doc_id, rating.rater): rating for rating in ratings}

    @property
    def rows(self) -> tuple[RatingContent, ...]:
        """The ratings, in the order in which they were added."""
        return tuple(self._rows.values())

    def add(
        self,
        fields: Fields,
        *,
        value: float | None,
        rater: str = "",
        verdict: str = "rated",
        note: str = "",
        rated_at: datetime | None = None,
        doc_id: str | None = None,
    ) -> None:
        """Adds a rating. fields: where it is in the file, with its `doc_id` unless that is given.

        Raises `BadFile` for an invalid document id, and for another rating of the same document by the same rater.
        """
        try:
            doc_id = ratings.clean_doc_id(fields.text("doc_id") if doc_id is None else doc_id)
        except ValidationError as error:
            raise BadFile(f"{fields.location}.doc_id: {error_text(error)}") from None
        rating = RatingContent(doc_id, value, rater, verdict, note, rated_at)
        present = self._rows.setdefault((doc_id, rater), rating)
        if (present.value, present.verdict) != (value, verdict):
            by = f" by {quote(rater)}" if rater else ""
            raise BadFile(
                f"{fields.location}: document {quote(doc_id)} of query {quote(self._query)} is rated {_written(rating)}{by} here "
                f"and {_written(present)} before. Keep one of them."
            )


def _written(rating: RatingContent) -> str:
    return rating.verdict if rating.value is None else f"{rating.value:g}"
