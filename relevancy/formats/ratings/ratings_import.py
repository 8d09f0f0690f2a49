"""Imports files of ratings in every format into a case: a preview, then everything or nothing."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from relevancy import accounts, scores
from relevancy.formats.cells import read_lines
from relevancy.formats.errors import BadFile
from relevancy.formats.file_formats import FileFormat, FileKind, choose
from relevancy.models import Book, Case, User

from . import judgement_lists, ltr, ratings_csv, ratings_json, rre, trec
from .ratings_file import NoRatings, RatingRow, collect
from .ratings_preview import RatingsPreview, compare, read_with_errors
from .ratings_storage import ImportedRatings, check_raters, store_file, store_ratings
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
            check_raters(ratings, present, by)
        except BadFile as error:
            return RatingsPreview(format=str(source.format), errors=[(None, str(error))])
        raters = {"": by, **{name: present.get(name) for name in ratings.raters}}
        preview = compare(case, ratings, raters)
        preview.format = str(source.format)
        return preview


def import_ratings(
    *, case: Case, source: RatingsSource, by: User, rater: User | None = None, origin: str = "import"
) -> ImportedRatings:
    """Imports a file into the case's book, and adds missing queries to the case; see `ratings_storage.store_ratings`.

    Raises `BadFile` if anything is wrong, including a rating that is not on the scale; then nothing is stored.
    """
    with collect(source.read(source.lines()), scores.scale_of(case.book)) as file:
        return store_ratings(case=case, file=file, by=by, rater=rater, source=origin)


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
        return store_file(book=book, file=file, rater=by, by=by, source=origin, with_it=create_case)[1]
