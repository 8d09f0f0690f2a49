"""What an import of ratings would do, before it is done."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from relevancy import scores
from relevancy.formats.errors import BadFile, UnreadableFile
from relevancy.models import Case, User

from .ratings_file import RatingsFile

MAX_ERRORS = 20


@dataclass
class RatingsPreview:
    """The ratings of a file, compared with those that its raters have given: the user who would import them, unless it names others.

    format: how the file is read. raters: whom it names.
    added, changed: ratings of documents that the rater has not rated, or has rated otherwise.
    unchanged: ratings that are here already. unrated: queries without a rating in the file.
    new_queries: queries that the case does not have.
    errors: line and message of what is wrong, at most 20; with any, nothing can be imported and the numbers are 0.
    """

    format: str = ""
    raters: list[str] = field(default_factory=list)
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    unrated: int = 0
    new_queries: int = 0
    errors: list[tuple[int | None, str]] = field(default_factory=list)

    @property
    def left_out(self) -> int:
        return self.unchanged + self.unrated


def compare(case: Case, ratings: RatingsFile, raters: Mapping[str, User | None]) -> RatingsPreview:
    """Returns what of a file is new. raters: by the name in the file; None for a rater who is not here yet."""
    preview = RatingsPreview()
    preview.raters = [name for name in raters if name]
    in_case = set(case.case_queries.present().values_list("query__text", flat=True))
    id_by_text = dict(case.book.queries.values_list("text", "pk"))
    for query in ratings:
        preview.new_queries += query not in in_case
        grades = ratings[query]
        present = _ratings_of(id_by_text.get(query)) if grades else {}
        for doc_id, name, value in grades:
            rater = raters[name]
            own = present.get(rater.pk, {}) if rater else {}
            preview.added += doc_id not in own
            preview.unchanged += own.get(doc_id) == value
            preview.changed += doc_id in own and own[doc_id] != value
        preview.unrated += not grades
    return preview


def _ratings_of(query_id: int | None) -> Mapping[int, Mapping[str, float | None]]:
    """Returns the values by rater and document."""
    values_by_rater: dict[int, dict[str, float | None]] = {}
    if query_id is not None:
        for record in scores.QueryRatings.read(query_id).records:
            values_by_rater.setdefault(record.rater_id, {})[record.doc_id] = record.value
    return values_by_rater


def read_with_errors(
    lines: Iterator[str], read: Callable[[Iterator[str]], RatingsFile], is_json: bool
) -> tuple[RatingsFile | None, list[tuple[int | None, str]]]:
    """Returns the ratings of a file or, if anything is wrong, None with line and message of the errors: at most 20, of JSON the first.

    The file is read on from the line after an error, behind its first line, so each line is read once. Two different ratings of a
    document are found unless there is an error between their lines: then they are found once that is corrected.
    """
    errors: list[tuple[int | None, str]] = []
    header = next(lines, "")
    counted = _CountedLines(lines)
    while len(errors) < MAX_ERRORS:
        before = counted.number
        try:
            file = read(chain([header], counted))
        except UnreadableFile:
            raise
        except BadFile as error:
            line, message = _location(error)
            if is_json or line is None or line == 1:
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
