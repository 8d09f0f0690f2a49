"""The formats of files that can be imported, and how each is recognised from its first bytes and its name.

See docs/decisions/0103.
"""

import csv
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import IO, Any

from relevancy import hooks
from relevancy.formats.queries import queries_csv
from relevancy.formats.ratings import ltr, ratings_csv

from .archives import open_json
from .errors import BadFile, quote

HEAD = 64 * 1024  # bytes that are looked at
MAX_LINES = 50
_OURS = re.compile(r'"format"\s*:\s*"relevancy[/-]')
_KEY = re.compile(r'"([^"\\]{1,100})"\s*:')
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_POSITION_COLUMNS = frozenset(("position", "doc position", "rank"))
_DOC_COLUMNS = frozenset(("docid", "doc_id", "doc id"))


class FileKind(StrEnum):
    """What a file contains. Its value names it in messages."""

    CASE = "a whole case"
    BOOK = "a whole book"
    RATINGS = "ratings"
    QUERIES = "queries"
    RUNS = "rankings"


class UnclearFile(BadFile):
    """The form of a file fits several formats, so that the user has to choose one. formats: these, the likeliest first."""

    def __init__(self, message: str, formats: "Sequence[FileFormat]") -> None:
        super().__init__(message)
        self.formats = formats


@dataclass(frozen=True)
class Head:
    """The beginning of a file. name: of the file; may be empty."""

    text: str
    name: str = ""

    @cached_property
    def is_object(self) -> bool:
        return self.text.startswith("{")

    @cached_property
    def is_ours(self) -> bool:
        """Whether it names our own format, of any version."""
        return _OURS.search(self.text) is not None

    @cached_property
    def is_list(self) -> bool:
        return self.text.startswith("[") and self.text[1:].lstrip()[:1] in ("{", "]", "")

    @cached_property
    def keys(self) -> frozenset[str]:
        """The names of members of JSON objects, at any depth."""
        return frozenset(_KEY.findall(self.text)) if self.is_object or self.is_list else frozenset()

    @cached_property
    def lines(self) -> list[str]:
        """The first lines that are not blank; none of JSON."""
        if self.is_object or self.is_list:
            return []
        return [line for line in self.text.splitlines()[:MAX_LINES] if line.strip()]

    @cached_property
    def contents(self) -> list[list[str]]:
        """The columns of the first lines that are not comments, between spaces."""
        return [line.split() for line in self.lines if not line.lstrip().startswith("#")]

    @cached_property
    def header(self) -> list[str]:
        """The cells of the first line as CSV, in lower case."""
        try:
            cells = next(csv.reader(self.lines[:1], skipinitialspace=True), [])
        except csv.Error:
            return []
        return [cell.strip().lower() for cell in cells]


@dataclass(frozen=True)
class FileFormat:
    """A format. name: in addresses, commands and forms. label: for people. fits: whether a file begins like it.

    product: which writes such files. read: of an optional app, makes `CaseContent` or `BookContent` of a file, or `Snapshot`s of the
    text of a file of rankings. Raises `BadFile`.
    """

    name: str
    kind: FileKind
    label: str
    fits: Callable[[Head], bool] = field(repr=False)
    product: str = ""
    read: Callable[[Any], Any] | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return self.label


def _has_columns(head: Head, *wanted: frozenset[str]) -> bool:
    return all(any(cell in names for cell in head.header) for names in wanted)


def _is_ratings_csv(head: Head) -> bool:
    return bool(head.lines) and ratings_csv.is_first_line(head.lines[0])


def _is_queries_csv(head: Head) -> bool:
    if _has_columns(head, _DOC_COLUMNS) or _is_ratings_csv(head):
        return False
    first = head.lines[0] if head.lines else ""
    other = (first.split(sign)[:1] for sign in queries_csv.DELIMITERS[1:] if sign in first)
    return any(map(queries_csv.has_query_column, (head.header, *other)))


def _is_trec(head: Head, widths: Collection[int], number: int) -> bool:
    """Returns whether all lines have one of these numbers of columns, and a number in a certain one. The last line may be cut off."""
    return bool(head.contents) and all(
        len(cells) in widths and _NUMBER.fullmatch(cells[number]) and not cells[1].startswith("qid:")
        for cells in head.contents[:-1] or head.contents
    )


def _is_format(head: Head, kind: str) -> bool:
    return head.is_object and "relevancy/" in head.text[:1000] and f'"{kind}"' in head.text[:1000]


FORMATS: Sequence[FileFormat] = (
    FileFormat(
        "relevancy-case",
        FileKind.CASE,
        "a case of Relevancy",
        lambda head: _is_format(head, "case"),
        "Relevancy",
    ),
    FileFormat(
        "relevancy-book",
        FileKind.BOOK,
        "a book of Relevancy",
        lambda head: _is_format(head, "book"),
        "Relevancy",
    ),
    FileFormat("csv", FileKind.RATINGS, "ratings as CSV", _is_ratings_csv),
    FileFormat("trec", FileKind.RATINGS, "TREC qrels", lambda head: _is_trec(head, {4}, 3)),
    FileFormat(
        "ltr",
        FileKind.RATINGS,
        "learning to rank (RankLib)",
        lambda head: {True} == {ltr.is_judgment(line) for line in head.lines if not line.startswith("#")},
    ),
    FileFormat(
        "rre",
        FileKind.RATINGS,
        "Rated Ranking Evaluator, JSON",
        lambda head: head.is_object and ("relevant_documents" in head.keys or {"topics", "query_groups"} <= head.keys),
    ),
    FileFormat(
        "json",
        FileKind.RATINGS,
        "ratings as JSON",
        lambda head: (
            head.is_object
            and {"queries", "query", "ratings"} <= head.keys
            and not head.keys & {"case_name", "format", "relevant_documents"}
        ),
    ),
    FileFormat(
        "searchtweak",
        FileKind.RATINGS,
        "judgements of SearchTweak, JSON",
        lambda head: head.is_list and {"keyword", "grade", "doc"} <= head.keys,
    ),
    FileFormat(
        "rankquest",
        FileKind.RATINGS,
        "rated searches of Rankquest, JSON",
        lambda head: head.is_list and {"searchContext", "ratings"} <= head.keys,
    ),
    FileFormat(
        "rankings-csv",
        FileKind.RUNS,
        "rankings or snapshots as CSV",
        lambda head: _has_columns(head, queries_csv.QUERY_COLUMNS, _DOC_COLUMNS, _POSITION_COLUMNS),
    ),
    FileFormat("trec-run", FileKind.RUNS, "a TREC run", lambda head: _is_trec(head, range(6, HEAD), 4)),
    FileFormat(
        "queries-csv",
        FileKind.QUERIES,
        "queries as CSV",
        _is_queries_csv,
    ),
)
PLAIN_QUERIES = FileFormat("queries", FileKind.QUERIES, "queries, one to a line", lambda head: bool(head.lines))


def of_kind(*kinds: FileKind) -> list[FileFormat]:
    """Returns the formats of what a form takes, those of optional apps last."""
    return [candidate for candidate in (*FORMATS, PLAIN_QUERIES, *hooks.file_formats) if candidate.kind in kinds]


def products(kind: FileKind) -> str:
    """Returns the products whose files of a kind can be read: `Relevancy or X`."""
    *first, last = dict.fromkeys(candidate.product for candidate in of_kind(kind) if candidate.product)
    return f"{', '.join(first)} or {last}" if first else last


def added_format(kind: FileKind, head: Head) -> FileFormat | None:
    """Returns the format of an optional app in which a file is read that is none of the core: one that fits, or the first, whose errors
    say what the file lacks. None without such an app."""
    added = [candidate for candidate in hooks.file_formats if candidate.kind == kind]
    return next((candidate for candidate in added if candidate.fits(head)), added[0] if added else None)


def detect(file: IO[bytes], name: str = "") -> list[FileFormat]:
    """Returns the formats that a file begins like; none if it is like none of them. It may be in a ZIP file if it is JSON.

    Any text could be queries, one to a line; that is not among them. Raises `BadFile` for a damaged ZIP file.
    """
    head = read_head(file, name)
    fitting = [file_format for file_format in (*FORMATS, *hooks.file_formats) if file_format.fits(head)]
    suffix = {"trec": (".qrels",), "trec-run": (".run",), "ltr": (".ltr", ".letor")}
    return sorted(
        fitting, key=lambda file_format: not head.name.lower().endswith(suffix.get(file_format.name, ("\0",)))
    )


def read_head(file: IO[bytes], name: str = "") -> Head:
    """Returns the beginning of a file, or of the JSON file in a ZIP file. The file is at its start again."""
    with open_json(file) as opened:
        content = opened.read(HEAD)
    file.seek(0)
    return Head(content.decode("utf-8-sig", errors="replace").lstrip("\ufeff \t\r\n"), name)


def choose(file: IO[bytes], kind: FileKind, *, name: str = "", wanted: str = "") -> FileFormat:
    """Returns the format in which a file is read as `kind`. wanted: the name of a format that the user has chosen; may be empty.

    Raises `UnclearFile` if it fits several, and `BadFile` if it fits none, with what it is instead.
    """
    offered = of_kind(kind)
    if wanted:
        file_format = next((candidate for candidate in offered if candidate.name == wanted), None)
        if file_format is None:
            raise BadFile(
                f"There is no format {wanted!r} for {kind}. Formats: {', '.join(candidate.name for candidate in offered)}."
            )
        return file_format
    fitting = detect(file, name)
    candidates = [file_format for file_format in fitting if file_format.kind == kind]
    if len(candidates) == 1:
        return candidates[0]
    if len(candidates) > 1:
        raise UnclearFile(f"The file can be read as {_either(candidates)}. Choose the format.", candidates)
    if kind == FileKind.QUERIES:
        if fitting:
            raise UnclearFile(
                f"The file can be read as {_either([PLAIN_QUERIES, *fitting])}. If each line is a query, choose the format "
                f"“{PLAIN_QUERIES}”.",
                [PLAIN_QUERIES],
            )
        if not read_head(file, name).lines:  # JSON, or blank
            raise UnclearFile(
                f"The file has no list of queries. If each line is a query, choose the format “{PLAIN_QUERIES}”.",
                [PLAIN_QUERIES],
            )
        return PLAIN_QUERIES
    if fitting:
        raise BadFile(
            f"The file is {_either(fitting)}: that is {fitting[0].kind}, not {kind}. Import it as {fitting[0].kind}."
        )
    head = read_head(file, name)
    if kind == FileKind.RATINGS and len(head.header) > 1:
        return _named("csv")  # whose errors name the columns
    if kind == FileKind.RUNS and not head.keys:
        return _named("rankings-csv" if len(head.header) > 1 else "trec-run")  # whose errors name line and column
    labels = "; ".join(candidate.label for candidate in offered)
    start = f"; it begins with {quote(head.lines[0][:60])}" if head.lines else ""
    raise BadFile(f"The format of the file was not recognised{start}. {str(kind).capitalize()} can be: {labels}.")


def _named(name: str) -> FileFormat:
    return next(file_format for file_format in FORMATS if file_format.name == name)


def _either(formats: Sequence[FileFormat]) -> str:
    *first, last = [file_format.label for file_format in formats]
    return f"{', '.join(first)} or {last}" if first else last
