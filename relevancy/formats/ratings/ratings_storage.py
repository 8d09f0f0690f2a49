"""Stores the ratings of a file, whatever its format: everything or nothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db import IntegrityError

from relevancy import accounts, queries, ratings
from relevancy.formats.errors import BadFile, quote
from relevancy.models import Book, Case, User
from relevancy.models.errors import error_text

from .ratings_file import NoRatings, RatingsFile


@dataclass(frozen=True)
class ImportedRatings:
    """The result of an import.

    Attributes:
        queries: number of queries that are new to the case.
        changed: number of ratings that are new or have another value.
        ratings: number of ratings in the file.
    """

    queries: int
    changed: int
    ratings: int


def store_ratings(*, case: Case, file: RatingsFile, by: User, rater: User | None, source: str) -> ImportedRatings:
    """Imports ratings into the case's book, and adds missing queries to the case.

    Ratings whose rater the file names become those of the people whom `by` knows, and otherwise of raters that cannot sign in; the
    others become those of `rater`, who is `by` unless given. Everybody sees the import at the same moment; see
    `ratings.import_ratings`. Raises `BadFile`; then nothing is stored.
    """
    changed, added = store_file(
        book=case.book,
        file=file,
        rater=rater or by,
        by=by,
        source=source,
        case=case,
        with_it=lambda ids: queries.add_prepared(case=case, query_ids=ids, by=by),
    )
    return ImportedRatings(added, changed, file.ratings)


def store_file[T](
    *,
    book: Book,
    file: RatingsFile,
    rater: User,
    by: User,
    source: str,
    case: Case | None = None,
    with_it: Callable[[Sequence[int]], T],
) -> tuple[int, T]:
    """Does what `ratings.import_ratings` does, with the raters that the file names. Raises `BadFile`, also if the book is deleted
    meanwhile; then nothing is stored."""
    if not file:
        raise NoRatings
    check_raters(file, accounts.find_raters(file.raters, by=by), rater)
    try:
        return ratings.import_ratings(
            book=book, values=file, rater=rater, raters=file.raters, by=by, source=source, case=case, with_it=with_it
        )
    except (ratings.ImportFailed, ValidationError) as error:
        raise BadFile(error_text(error)) from None
    except (IntegrityError, LookupError, ObjectDoesNotExist):
        if book.pk is None or Book.objects.filter(pk=book.pk).exists():
            raise
        raise BadFile(f"The book “{book}” was deleted during the import; nothing was imported.") from None


def check_raters(file: RatingsFile, present: Mapping[str, User], own: User) -> None:
    """Raises `BadFile` for a rater with two names in a file. present: the raters that are here already, by name. own: whose are the
    ratings without a name."""
    names: dict[int | str, str] = {own.pk: own.email} if file.has_unnamed else {}
    for name in file.raters:
        key = present[name].pk if name in present else name.lower()
        if key in names:
            raise BadFile(f"{quote(names[key])} and {quote(name)} are the same rater. Join their ratings.")
        names[key] = name
