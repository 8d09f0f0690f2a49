"""Imports files of ratings in every format into a case: a preview, then everything or nothing."""

import logging
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import IO

from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db import IntegrityError

from relevancy import accounts, books, ratings, scores
from relevancy.formats.cells import read_lines
from relevancy.formats.errors import BadFile, LineError, quote
from relevancy.formats.file_formats import PLAIN_QUERIES, FileFormat, FileKind, choose
from relevancy.models import Book, Case, RatingImport, User, Verdict
from relevancy.models.errors import error_text
from relevancy.queries import MAX_QUERIES, QueryDetails

from . import judgement_lists, ltr, ratings_csv, ratings_json, rre, trec
from .ratings_file import RatingRow, RatingsFile
from .ratings_preview import RatingsPreview, case_texts, compare, read_with_errors
from .topics import match_topics

log = logging.getLogger("relevancy.formats")
_OF_JSON: Mapping[str, Callable[[IO[bytes]], Iterator[RatingRow]]] = {
    "rre": rre.read_ratings,
    "json": ratings_json.read_ratings,
    "searchtweak": judgement_lists.read_searchtweak,
    "rankquest": judgement_lists.read_rankquest,
}


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


@dataclass(frozen=True)
class RatingsSource:
    """A file of ratings in a format that is known. read: yields its ratings; lines are given by the caller, and empty for JSON.

    max_bytes: of a text; `MAX_BYTES` unless given."""

    file: IO[bytes]
    format: FileFormat
    read: Callable[[Iterator[str]], Iterator[RatingRow]]
    max_bytes: int | None = None

    def lines(self) -> Iterator[str]:
        """Returns the lines from the start of the file; none of JSON."""
        self.file.seek(0)
        return iter(()) if self.format.name in _OF_JSON else read_lines(self.file, limit=self.max_bytes)

    def collect(self, case: Case) -> RatingsFile:
        """Reads the file, whose ratings must be on the scale of the case's book. Raises `BadFile`. Close the result after use."""
        return RatingsFile(self.read(self.lines()), scores.scale_of(case.book))


def open_source(
    *, case: Case, file: IO[bytes], name: str = "", format: str = "", max_bytes: int | None = None
) -> RatingsSource:
    """Returns how the file of a user is read. name: of the file. format: of `formats.of_kind(FileKind.RATINGS)`; empty to recognise it.
    max_bytes: of a text file, `MAX_BYTES` unless given.

    case: one that is not saved yet has the queries of its book, and gets those that a file names by their texts.
    Raises `BadFile`, and `UnclearFile` if the user has to choose the format.
    """
    if format == PLAIN_QUERIES.name:
        return RatingsSource(file, PLAIN_QUERIES, _read_queries, max_bytes)
    chosen = choose(file, FileKind.RATINGS, name=name, wanted=format)
    if chosen.name in _OF_JSON:
        read_json = _OF_JSON[chosen.name]
        return RatingsSource(file, chosen, lambda lines: read_json(file))
    if chosen.name == "csv":
        return RatingsSource(file, chosen, ratings_csv.read_ratings, max_bytes)
    module = trec if chosen.name == "trec" else ltr
    file.seek(0)
    lines = read_lines(file, limit=max_bytes)
    topics = match_topics(case_texts(case), module.read_topics(lines), adds=case.pk is None)
    return RatingsSource(file, chosen, lambda lines: module.read_ratings(lines, topics), max_bytes)


def open_long_list(
    *, file: IO[bytes], name: str = "", format: str = "", max_bytes: int | None = None
) -> tuple[RatingsSource, int] | None:
    """Returns how a list of queries, one to a line, is read that is too long to be added at once, and how many lines it has: as a file
    of ratings that has none. None for a shorter list, and for other files, which are at their start again.

    format: of `formats.of_kind(FileKind.QUERIES)`; empty to recognise it. Raises `BadFile`, and `UnclearFile` if the user has to
    choose.
    """
    chosen = choose(file, FileKind.QUERIES, name=name, wanted=format)
    file.seek(0)
    count = 0
    if chosen == PLAIN_QUERIES:
        count = sum(not line.isspace() for line in read_lines(file, limit=max_bytes))
    file.seek(0)
    return (RatingsSource(file, chosen, _read_queries, max_bytes), count) if count > MAX_QUERIES else None


def _read_queries(lines: Iterator[str]) -> Iterator[RatingRow]:
    """Yields a row without a rating for each line that is not blank."""
    return (RatingRow(line, "", "", line=number) for number, line in enumerate(lines, 1) if not line.isspace())


def preview_ratings(*, case: Case, source: RatingsSource, by: User) -> RatingsPreview:
    """Returns what `import_ratings` would do with a file. Writes nothing.

    Two SQL statements, and one for each query of the file that the book has, and each rater. Raises `UnreadableFile`; everything
    else that is wrong is in the result.
    """
    name, scale = str(source.format), scores.scale_of(case.book)
    file, errors = read_with_errors(source.lines(), lambda lines: RatingsFile(source.read(lines), scale))
    if file is None:
        return RatingsPreview(format=name, errors=errors)
    with closing(file):
        try:
            present = accounts.find_raters(file.raters, by=by)
            _check_raters(file, by, by, present)
        except BadFile as error:
            return RatingsPreview(format=name, errors=[LineError(None, str(error))])
        raters = {"": by, **{rater: present.get(rater) for rater in file.raters}}
        return compare(case, file, raters, RatingsPreview(name, file.raters))


def import_ratings(
    *,
    case: Case,
    source: RatingsSource,
    by: User,
    rater: User | None = None,
    origin: str = "import",
    report: ratings.ReportProgress = lambda record: None,
) -> ImportedRatings:
    """Imports a file into the case's book, and adds missing queries to the case; see `ratings.import_ratings`.

    Ratings whose rater the file names become those of the people whom `by` knows, and otherwise of raters that cannot sign in; the
    others become those of `rater`, who is `by` unless given. Raises `BadFile` if anything is wrong, including a rating that is not
    on the scale; then nothing is stored.
    """
    with closing(source.collect(case)) as file:
        return _store(case, file, by, rater or by, origin, report)


def import_or_queue(*, case: Case, source: RatingsSource, by: User) -> ImportedRatings | RatingImport:
    """Does what `import_ratings` does, but closes the book and keeps the file for a worker if it is large.

    The worker calls `continue_import`; until then the result is a `RatingImport`.
    """
    with closing(source.collect(case)) as file:
        if not ratings.is_large(file, file.ratings):
            return _store(case, file, by, by, "import")
        _check_raters(file, by, by)
        total, count = file.ratings, len(file)
    try:
        record = ratings.begin_import(
            case=case,
            by=by,
            total=total,
            queries_of_file=count,
            status=RatingImport.Status.WAITING,
            format=source.format.name,
        )
    except ValidationError as error:
        raise BadFile(error_text(error)) from None
    with ratings.undone_after_error(record):
        path = ratings.import_file(record)
        path.parent.mkdir(parents=True, exist_ok=True)
        source.file.seek(0)
        with path.open("wb") as copy:
            shutil.copyfileobj(source.file, copy)
    return record


def _store(
    case: Case,
    file: RatingsFile,
    by: User,
    rater: User,
    origin: str,
    report: ratings.ReportProgress = lambda record: None,
) -> ImportedRatings:
    _check_raters(file, by, rater)
    try:
        changed, added = ratings.import_ratings(
            case=case,
            values=file,
            total=file.ratings,
            rater=rater,
            raters=file.raters,
            by=by,
            source=origin,
            report=report,
        )
    except ValidationError as error:
        raise BadFile(error_text(error)) from None
    except (IntegrityError, ObjectDoesNotExist):
        if Book.objects.filter(pk=case.book_id).exists():
            raise
        raise BadFile(f"The book “{case.book}” was deleted during the import; nothing was imported.") from None
    return ImportedRatings(added, changed, file.ratings)


def _check_raters(file: RatingsFile, by: User, own: User, present: Mapping[str, User] | None = None) -> None:
    """Raises `BadFile` for a file without ratings and queries, and for a rater with two names in it.

    own: whose are the ratings without a name. present: what `accounts.find_raters` returns for the raters of the file.
    """
    if not file:
        raise BadFile("The file has no ratings.")
    if not file.raters:
        return
    present = accounts.find_raters(file.raters, by=by) if present is None else present
    names: dict[int | str, str] = {own.pk: own.email} if file.has_unnamed else {}
    for name in file.raters:
        key = present[name].pk if name in present else name.lower()
        if key in names:
            raise BadFile(f"{quote(names[key])} and {quote(name)} are the same rater. Join their ratings.")
        names[key] = name


def continue_import(import_id: int) -> None:
    """Stores the ratings of an import that waits for a worker. If it fails, the import says why."""
    record = ratings.claim_import(import_id)
    if record is None:
        return
    try:
        with ratings.undone_after_error(record):
            _store_waiting(record)
    except ValidationError:
        log.warning("The import of ratings %s has failed; its row says why.", record.pk)


def _store_waiting(record: RatingImport) -> None:
    if record.case is None:
        raise ratings.ImportFailed("The case was deleted during the import; nothing was imported.")
    try:
        with ratings.import_file(record).open("rb") as content:
            source = open_source(case=record.case, file=content, format=record.format)
            with closing(source.collect(record.case)) as file:
                _check_raters(file, record.by, record.by)
                ratings.run_import(record, file, rater=record.by, raters=file.raters)
    except FileNotFoundError:
        raise ratings.ImportFailed("The file of the import was lost. Import it again.") from None
    except BadFile as error:
        raise ratings.ImportFailed(str(error)) from None


def import_with_case(
    *,
    book: Book,
    lines: Iterable[str],
    by: User,
    origin: str = "import",
    create_case: Callable[[Sequence[int]], Case],
) -> Case:
    """Imports ratings as CSV into a new book, with the case that it is for: both are there, or neither; see `books.build_book`.

    book: from `cases.build_book`. create_case: creates the case on the book, with these queries of the book.
    """
    with closing(RatingsFile(ratings_csv.read_ratings(lines), scores.scale_of(book))) as file:
        _check_raters(file, by, by)
        try:
            with books.build_book(book=book, by=by, source=origin) as builder:
                query_ids = builder.add_queries(dict.fromkeys(file, QueryDetails()))
                rater_ids = {"": by.pk, **builder.ensure_raters(file.raters)}
                builder.store(
                    ratings.NewRating(query_ids[text], doc_id, rater_ids[name], Verdict.RATED, value)
                    for text in file
                    for doc_id, name, value in file[text]
                )
                return create_case(list(query_ids.values()))
        except ValidationError as error:
            raise BadFile(error_text(error)) from None
