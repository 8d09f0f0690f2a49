"""Stores the ratings of a file, whatever its format: everything or nothing."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db import IntegrityError

from relevancy import accounts, ratings
from relevancy.formats.errors import BadFile, quote
from relevancy.models import Book, Case, RatingImport, User
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


def store_ratings(
    *,
    case: Case,
    file: RatingsFile,
    by: User,
    rater: User | None,
    source: str,
    report: ratings.ReportProgress = lambda record: None,
) -> ImportedRatings:
    """Imports ratings into the case's book, and adds missing queries to the case; see `ratings.import_ratings`.

    Ratings whose rater the file names become those of the people whom `by` knows, and otherwise of raters that cannot sign in; the
    others become those of `rater`, who is `by` unless given. Raises `BadFile`; then nothing is stored.
    """
    check_raters(file, by, rater or by)
    try:
        changed, added = ratings.import_ratings(
            case=case,
            values=file,
            total=file.ratings,
            rater=rater or by,
            raters=file.raters,
            by=by,
            source=source,
            report=report,
        )
    except ValidationError as error:
        raise BadFile(error_text(error)) from None
    except (IntegrityError, ObjectDoesNotExist):
        if Book.objects.filter(pk=case.book_id).exists():
            raise
        raise BadFile(f"The book “{case.book}” was deleted during the import; nothing was imported.") from None
    return ImportedRatings(added, changed, file.ratings)


def store_waiting(record: RatingImport, file: RatingsFile) -> None:
    """Stores the ratings of an import that waited for a worker; see `ratings.run_import`. Raises `BadFile` and `ValidationError`."""
    check_raters(file, record.by, record.by)
    ratings.run_import(record, file, rater=record.by, raters=file.raters)


def check_raters(file: RatingsFile, by: User, own: User, present: Mapping[str, User] | None = None) -> None:
    """Raises `BadFile` for a file without ratings and queries, and for a rater with two names in it.

    own: whose are the ratings without a name. present: what `accounts.find_raters` returns for the raters of the file.
    """
    if not file:
        raise NoRatings
    if not file.raters:
        return
    present = accounts.find_raters(file.raters, by=by) if present is None else present
    names: dict[int | str, str] = {own.pk: own.email} if file.has_unnamed else {}
    for name in file.raters:
        key = present[name].pk if name in present else name.lower()
        if key in names:
            raise BadFile(f"{quote(names[key])} and {quote(name)} are the same rater. Join their ratings.")
        names[key] = name
