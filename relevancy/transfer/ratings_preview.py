"""What an import of ratings would do, before it is done."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field

from relevancy import scores
from relevancy.models import Case, User
from relevancy.scoring import Scale

from .errors import BadFile
from .ratings_csv import parse_ratings

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


def preview_ratings(*, case: Case, text: str, by: User) -> RatingsPreview:
    """Returns what `import_ratings` would do with a file. Writes nothing.

    Two SQL statements, and one for each query of the file that the book has.
    """
    scale = scores.scale_of(case.book)
    preview = RatingsPreview(errors=find_errors(text, scale))
    if preview.errors:
        return preview
    ratings = parse_ratings(text, scale)
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
    records = scores.QueryRatings.read(query_id).records
    return {record.doc_id: record.value for record in records if record.rater_id == by.pk}


def find_errors(text: str, scale: Scale) -> list[tuple[int | None, str]]:
    """Returns line and message of the errors of a file, at most 20.

    The file is read on from the line after an error, so each part of it is read once. Two different ratings of a document are
    found unless there is an error between their lines: then they are found once that is corrected.
    """
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    errors: list[tuple[int | None, str]] = []
    skipped = 1  # lines before the part that is read, besides the header
    while len(errors) < MAX_ERRORS:
        try:
            parse_ratings("".join([*lines[:1], *lines[skipped:]]), scale)
        except BadFile as error:
            line, message = _location(error)
            if line is None or line == 1:
                return [*errors, (line, message)]
            errors.append((line + skipped - 1, message))
            skipped += line - 2 + _length_of_record(lines[skipped + line - 2 :])
        else:
            break
    return errors


def _location(error: BadFile) -> tuple[int | None, str]:
    """Returns the line of an error and its message without it."""
    text = str(error)
    if error.line is not None:
        text = text.removeprefix(f"Line {error.line}: ")
    return error.line, text[:1].upper() + text[1:]


def _length_of_record(lines: list[str]) -> int:
    """Returns how many lines the first record takes: cells in quotes can contain line ends."""
    reader = csv.reader(lines)
    try:
        next(reader, None)
    except csv.Error:
        return len(lines) or 1
    return max(1, reader.line_num)
