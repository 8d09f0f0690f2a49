"""Imports files of ratings in every format into a case: a preview, then everything or nothing."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from django.core.exceptions import ValidationError
from django.db import transaction

from relevancy import accounts, judgments, queries, scores
from relevancy.models import Book, Case, User
from relevancy.models.errors import error_text
from relevancy.models.saving import clean_and_save

from . import judgement_lists, ltr, ratings_csv, ratings_json, rre, trec
from .cells import read_lines
from .checked_ratings import MAX_ON_PAGE
from .errors import BadFile, quote
from .formats import FileFormat, FileKind, choose
from .ratings_csv import ImportedRatings
from .ratings_file import NoRatings, RatingRow, RatingsFile, collect
from .ratings_preview import RatingsPreview, compare, read_with_errors
from .topics import match_topics

_OF_JSON: Mapping[str, Callable[[IO[bytes]], Iterator[RatingRow]]] = {
    "rre": rre.read_ratings,
    "json": ratings_json.read_ratings,
    "searchtweak": judgement_lists.read_searchtweak,
    "rankquest": judgement_lists.read_rankquest,
}


@dataclass(frozen=True)
class RatingsSource:
    """A file of ratings in a format that is known. read: yields its ratings; lines are given by the caller, and empty for JSON."""

    file: IO[bytes]
    format: FileFormat
    read: Callable[[Iterator[str]], Iterator[RatingRow]]

    @property
    def is_json(self) -> bool:
        return self.format.name in _OF_JSON

    def lines(self) -> Iterator[str]:
        """Returns the lines from the start of the file."""
        self.file.seek(0)
        return iter(()) if self.is_json else read_lines(self.file)


def open_source(*, case: Case, file: IO[bytes], name: str = "", format: str = "") -> RatingsSource:
    """Returns how the file of a user is read. name: of the file. format: of `formats.of_kind(FileKind.RATINGS)`; empty to recognise it.

    Raises `BadFile`, and `UnclearFile` if the user has to choose the format.
    """
    chosen = choose(file, FileKind.RATINGS, name=name, wanted=format)
    if chosen.name in _OF_JSON:
        read_json = _OF_JSON[chosen.name]
        return RatingsSource(file, chosen, lambda lines: read_json(file))
    if chosen.name == "csv":
        return RatingsSource(file, chosen, ratings_csv.read_ratings)
    module = trec if chosen.name == "trec" else ltr
    file.seek(0)
    topics = match_topics(case, module.read_topics(read_lines(file)))
    return RatingsSource(file, chosen, lambda lines: module.read_ratings(lines, topics))


def preview_ratings(*, case: Case, source: RatingsSource, by: User) -> RatingsPreview:
    """Returns what `import_ratings` would do with a file. Writes nothing.

    Two SQL statements, and one for each query of the file that the book has, and each rater. Raises `UnreadableFile`; everything
    else that is wrong is in the result.
    """
    scale = scores.scale_of(case.book)
    ratings, errors = read_with_errors(source.lines(), lambda lines: collect(source.read(lines), scale), source.is_json)
    if ratings is None:
        return RatingsPreview(format=str(source.format), errors=errors)
    with ratings:
        try:
            if not ratings:
                raise NoRatings
            present = accounts.find_raters(ratings.raters, by=by)
            _check_raters(ratings, present, by)
        except BadFile as error:
            return RatingsPreview(format=str(source.format), errors=[(None, str(error))])
        raters = {"": by, **{name: present.get(name) for name in ratings.raters}}
        preview = compare(case, ratings, raters)
        preview.format = str(source.format)
        return preview


def import_ratings(
    *, case: Case, source: RatingsSource, by: User, rater: User | None = None, origin: str = "import"
) -> ImportedRatings:
    """Imports a file into the case's book, and adds missing queries to the case.

    Ratings whose rater the file names become those of the people whom `by` knows, and otherwise of raters that cannot sign in; the
    others become those of `rater`, who is `by` unless given. origin: as of `judgments.import_ratings`.
    Raises `BadFile` if anything is wrong, including a rating that is not on the scale; then nothing is stored.
    """
    with collect(source.read(source.lines()), scores.scale_of(case.book)) as file:
        own = rater or by
        if not file:
            raise NoRatings
        if not file.raters:
            return _import(case, file, "", own, by, origin)
        _check_raters(file, accounts.find_raters(file.raters, by=by), own)
        with transaction.atomic():
            return _import_of_raters(case, file, own, by, origin)


def import_with_case(
    *,
    book: Book,
    lines: Iterable[str],
    by: User,
    origin: str = "import",
    create_case: Callable[[Sequence[int]], Case],
) -> Case:
    """Imports ratings as CSV as `import_ratings` does, into a new book, with the case that it is for: both are there, or neither.

    book: from `cases.build_book`. create_case: creates the case on the book, with these queries of the book; called in the
    transaction that applies the import.
    """
    with ratings_csv.parse_ratings(lines, scores.scale_of(book)) as file:
        _check_raters(file, accounts.find_raters(file.raters, by=by), by)
        try:
            if not file.raters:
                return judgments.import_ratings(
                    book=book, values=file, rater=by, by=by, source=origin, with_it=create_case
                )[1]
            with transaction.atomic():
                clean_and_save(book)
                case = create_case(())
                _import_of_raters(case, file, by, by, origin)
                return case
        except judgments.ImportFailed as error:
            raise BadFile(error_text(error)) from None


def _import_of_raters(case: Case, file: RatingsFile, own: User, by: User, origin: str) -> ImportedRatings:
    """Imports the ratings of all raters, in the transaction of the caller."""
    people = {"": own, **_ensure_raters(file.raters, by)}
    results = [_import(case, file, name, people[name], by, origin) for name in ("", *file.raters)]
    return ImportedRatings(
        sum(imported.queries for imported in results), sum(imported.changed for imported in results), file.ratings
    )


def _check_raters(file: RatingsFile, present: Mapping[str, User], own: User) -> None:
    """Raises `BadFile` for too many ratings by named raters, which are stored in one transaction, in which nobody else can rate on
    SQLite, and for a rater with two names. own: whose are the ratings without a name."""
    if file.raters and file.ratings > MAX_ON_PAGE:
        raise BadFile(
            f"The file names the raters of {file.ratings:,} ratings; at most {MAX_ON_PAGE:,} of them can be imported at once. "
            "Split it by queries."
        )
    names: dict[int | str, str] = {own.pk: own.email} if file.has_unnamed else {}
    for name in file.raters:
        key = present[name].pk if name in present else name.lower()
        if key in names:
            raise BadFile(f"{quote(names[key])} and {quote(name)} are the same rater. Join their ratings.")
        names[key] = name


def _ensure_raters(names: Collection[str], by: User) -> dict[str, User]:
    try:
        return accounts.ensure_raters(set(names), by=by)
    except ValidationError as error:
        raise BadFile(error_text(error)) from None


def _import(case: Case, file: RatingsFile, name: str, rater: User, by: User, origin: str) -> ImportedRatings:
    try:
        changed, added = judgments.import_ratings(
            book=case.book,
            values=file.of_rater(name),
            rater=rater,
            by=by,
            source=origin,
            case=case,
            with_it=lambda ids: queries.add_prepared(case=case, query_ids=ids, by=by),
        )
    except (judgments.ImportFailed, ValidationError) as error:
        raise BadFile(error_text(error)) from None
    return ImportedRatings(added, changed, file.ratings)
