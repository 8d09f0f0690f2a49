"""What an import of ratings would do, before it is done."""

import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from relevancy import scores
from relevancy.models import Case, User
from relevancy.scoring import Scale

from .errors import BadFile, UnreadableFile
from .ratings_csv import RatingsFile, parse_ratings

MAX_ERRORS = 20


@dataclass
class RatingsPreview:
    """The ratings of a file, compared with those of the user who would import them.

    added, changed: ratings of documents that the user has not rated, or has rated otherwise.
    unchanged: ratings that the user has given already. unrated: queries without a rating in the file.
    new_queries: queries that the case does not have.
    errors: line and message of what is wrong, at most 20; with any, nothing can be imported and the numbers are 0.
    """

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    unrated: int = 0
    new_queries: int = 0
    errors: list[tuple[int | None, str]] = field(default_factory=list)

    @property
    def left_out(self) -> int:
        return self.unchanged + self.unrated


def preview_ratings(*, case: Case, text: str | Iterable[str], by: User) -> RatingsPreview:
    """Returns what `import_ratings` would do with a CSV text, or its lines. Writes nothing.

    Two SQL statements, and one for each query of the file that the book has. Raises `UnreadableFile` as the lines do; everything
    else that is wrong is in the result.
    """
    lines = io.StringIO(text.removeprefix("\ufeff"), newline="") if isinstance(text, str) else text
    ratings, errors = _read(iter(lines), scores.scale_of(case.book))
    if ratings is None:
        return RatingsPreview(errors=errors)
    with ratings:
        return _compare(case, ratings, by)


def _compare(case: Case, ratings: RatingsFile, by: User) -> RatingsPreview:
    preview = RatingsPreview()
    in_case = set(case.case_queries.present().values_list("query__text", flat=True))
    id_by_text = dict(case.book.queries.values_list("text", "pk"))
    for query, documents in ratings.items():
        preview.new_queries += query not in in_case
        preview.unrated += not documents
        own = _own_ratings(id_by_text.get(query), by) if documents else {}
        for doc_id, value in documents.items():
            preview.added += doc_id not in own
            preview.unchanged += own.get(doc_id) == value
            preview.changed += doc_id in own and own[doc_id] != value
    return preview


def _own_ratings(query_id: int | None, by: User) -> Mapping[str, float | None]:
    if query_id is None:
        return {}
    records = scores.QueryRatings.read_given(query_id).records
    return {record.doc_id: record.value for record in records if record.rater_id == by.pk}


def _read(lines: Iterator[str], scale: Scale) -> tuple[RatingsFile | None, list[tuple[int | None, str]]]:
    """Returns the ratings of a file or, if anything is wrong, None with line and message of the errors, at most 20.

    The file is read on from the line after an error, so each line is read once. Two different ratings of a document are found
    unless there is an error between their lines: then they are found once that is corrected.
    """
    header = next(lines, "")
    errors: list[tuple[int | None, str]] = []
    counted = _CountedLines(lines)
    while len(errors) < MAX_ERRORS:
        before = counted.number
        try:
            file = parse_ratings(chain([header], counted), scale)
        except UnreadableFile:
            raise
        except BadFile as error:
            line, message = _location(error)
            if line is None or line == 1:
                return None, [*errors, (line, message)]
            errors.append((line + before, message))
        else:
            if not errors:
                return file, errors
            file.close()
            break
    return None, errors


@dataclass
class _CountedLines(Iterator[str]):
    """Lines, and the number of those that were read."""

    lines: Iterator[str]
    number: int = 0

    def __next__(self) -> str:
        line = next(self.lines)
        self.number += 1
        return line


def _location(error: BadFile) -> tuple[int | None, str]:
    """Returns the line of an error and its message without it."""
    text = str(error)
    if error.line is not None:
        text = text.removeprefix(f"Line {error.line}: ")
    return error.line, text[:1].upper() + text[1:]
