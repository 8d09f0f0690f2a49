"""Imports files of queries into a case: a preview, then everything or nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import IO

from django.db import transaction

from relevancy import queries
from relevancy.formats.cells import read_lines
from relevancy.formats.errors import BadFile, LineError
from relevancy.formats.file_formats import PLAIN_QUERIES, FileKind, choose
from relevancy.models import Case, User
from relevancy.wording import counted

from .queries_csv import QueriesFile, parse_queries

MAX_LISTED = 20  # lines


@dataclass(frozen=True)
class QueriesPreview:
    """What an import does, or has done.

    format: how the file is read.
    added: queries that the case does not have. changed, unchanged: those that it has, by whether the file has other details.
    repeated: rows of a query that the file has before. rejected: lines that cannot be a query and are left out.
    lines: what is wrong with rejected lines, at most 20; or errors, with which nothing can be imported.
    """

    format: str
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    repeated: int = 0
    rejected: int = 0
    lines: Sequence[LineError] = ()
    has_errors: bool = False


def open_source(*, case: Case | None, file: IO[bytes], name: str = "", format: str = "") -> QueriesFile:
    """Reads the file of a user. name: of the file. format: of `formats.of_kind(FileKind.QUERIES)`; empty to recognise it.

    case: whose tags keep their upper and lower case; None for a new one. Raises `BadFile`, `UnclearFile` if the user has to choose
    the format, and `ValidationError` for too many queries.
    """
    chosen = choose(file, FileKind.QUERIES, name=name, wanted=format)
    file.seek(0)
    lines = read_lines(file)
    if chosen == PLAIN_QUERIES:
        content = QueriesFile(queries.parse_lines(lines), {})
    else:
        content = parse_queries(lines, queries.tags.of_book(case.book) if case else ())
    if not (content.pasted.texts or content.pasted.rejected or content.errors):
        raise BadFile("The file has no queries.")
    return replace(content, format=str(chosen))


def preview_queries(*, case: Case, source: QueriesFile) -> QueriesPreview:
    """Returns what `import_queries` would do. Writes nothing. A statement for the texts, and two per 500 queries."""
    if source.errors:
        return QueriesPreview(source.format, lines=source.errors, has_errors=True)
    in_case = set(case.case_queries.present().values_list("query__text", flat=True))
    added = sum(text not in in_case for text in source.pasted.texts)
    changed = queries.count_changes(case=case, changes=source.changes)
    return _describe(source, added, changed)


def import_queries(*, case: Case, source: QueriesFile, by: User | None = None) -> QueriesPreview:
    """Adds the queries that the case does not have at its end, in the order of the file, and changes the details of all of them.

    Raises `BadFile` if anything is wrong in a CSV file; then nothing is stored. Lines of a list that cannot be a query are left out.
    """
    check_errors(source)
    with transaction.atomic():
        changed = queries.count_changes(case=case, changes=source.changes)
        added = len(queries.add(case=case, texts=source.pasted, by=by).added)
        queries.change_details(case=case, changes=source.changes, by=by)
    return _describe(source, added, changed)


def check_errors(file: QueriesFile) -> None:
    """Raises `BadFile` with the first error of a CSV file."""
    if file.errors:
        line, message = file.errors[0]
        raise BadFile(message, line=line)


def describe_import(imported: QueriesPreview) -> str:
    """Returns what was imported, in a sentence or two."""
    text = f"{counted(imported.added, 'query', 'queries')} added, {imported.changed:,} changed, {imported.unchanged:,} left as before."
    return f"{text} {counted(imported.rejected, 'line was', 'lines were')} left out." if imported.rejected else text


def _describe(source: QueriesFile, added: int, changed: int) -> QueriesPreview:
    pasted = source.pasted
    return QueriesPreview(
        source.format,
        added=added,
        changed=changed,
        unchanged=len(pasted.texts) - added - changed,
        repeated=len(pasted.repeated),
        rejected=len(pasted.rejected),
        lines=[LineError(*line) for line in pasted.rejected[:MAX_LISTED]],
    )
