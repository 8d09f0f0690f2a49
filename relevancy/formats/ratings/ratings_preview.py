"""What an import of ratings would do, before it is done."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from relevancy import scores
from relevancy.formats.errors import BadFile, LineError, UnreadableFile
from relevancy.models import Case, Query, User

from .ratings_file import RatingsFile

MAX_ERRORS = 20


@dataclass
class RatingsPreview:
    """The ratings of a file, compared with those that its raters have given: the user who would import them, unless it names others.

    format: how the file is read. raters: whom it names. queries: their texts, in the order of the file.
    added, changed: ratings of documents that the rater has not rated, or has rated otherwise.
    unchanged: ratings that are here already. unrated: queries without a rating in the file.
    new_queries: queries that the case does not have.
    errors: line and message of what is wrong, at most 20; with any, nothing can be imported and the numbers are 0.
    is_stored: whether it has been imported.
    """

    format: str = ""
    raters: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    unrated: int = 0
    new_queries: int = 0
    errors: list[LineError] = field(default_factory=list)
    is_stored: bool = False

    @property
    def given(self) -> int:
        """How many ratings the file has."""
        return self.added + self.changed + self.unchanged

    @property
    def left_out(self) -> int:
        return self.unchanged + self.unrated


def case_texts(case: Case) -> Mapping[int, str]:
    """Returns the texts of the queries of a case, by id; those of its book if the case is not saved yet."""
    if case.pk is not None:
        return case.case_queries.texts()
    return dict(Query.objects.live().filter(book=case.book_id).values_list("pk", "text"))


def compare(
    case: Case, ratings: RatingsFile, raters: Mapping[str, User | None], preview: RatingsPreview
) -> RatingsPreview:
    """Counts what of a file is new. raters: by the name in the file; None for a rater who is not here yet."""
    in_case = set(case_texts(case).values())
    id_by_text = dict(Query.objects.filter(book=case.book_id).values_list("text", "pk"))
    preview.queries.extend(ratings)
    for query in ratings:
        preview.new_queries += query not in in_case
        grades = ratings[query]
        present: dict[tuple[int, str], float | None] = {}
        if grades and query in id_by_text:
            records = scores.QueryRatings.read(id_by_text[query]).records
            present = {(record.rater_id, record.doc_id): record.value for record in records}
        for doc_id, name, value in grades:
            rater = raters[name]
            key = (rater.pk, doc_id) if rater else None
            if key is None or key not in present:
                preview.added += 1
            elif present[key] == value:
                preview.unchanged += 1
            else:
                preview.changed += 1
        preview.unrated += not grades
    return preview


def read_with_errors(
    lines: Iterator[str], read: Callable[[Iterator[str]], RatingsFile]
) -> tuple[RatingsFile | None, list[LineError]]:
    """Returns the ratings of a file or, if anything is wrong, None with line and message of the errors: at most 20, of JSON the first.

    The file is read on from the line after an error, behind its first line, so each line is read once. Two different ratings of a
    document are found unless there is an error between their lines: then they are found once that is corrected.
    """
    errors: list[LineError] = []
    header = next(lines, "")
    number = 0

    def numbered() -> Iterator[str]:
        nonlocal number
        for number, line in enumerate(lines, 1):  # noqa: B007 (read below)
            yield line

    rest = numbered()
    while len(errors) < MAX_ERRORS:
        before = number
        try:
            file = read(chain([header], rest))
        except UnreadableFile:
            raise
        except BadFile as error:
            line = error.line
            message = str(error).removeprefix(f"Line {line}: ")
            errors.append(LineError(line and line + before, message[:1].upper() + message[1:]))
            if line in (None, 1) or number == before:  # it is not about one of the rows, or the file is JSON
                break
        else:
            if not errors:
                return file, errors
            file.close()
            break
    return None, errors
