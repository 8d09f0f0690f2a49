"""The formats of files that can be imported, and how each is recognised from its first bytes and its name.

See docs/decisions/0103.
"""

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import StrEnum
from typing import IO, Any

from relevancy import hooks
from relevancy.engines.static.rankings_file import parse_snapshots
from relevancy.formats.queries import queries_csv
from relevancy.formats.ratings import ratings_csv
from relevancy.formats.relevancy import case_reader, reader

from .archives import open_json
from .errors import BadFile, quote

HEAD = 64 * 1024  # bytes that are looked at
MAX_LINES = 50
_OURS = re.compile(r'"format"\s*:\s*"relevancy[/-]')
_KEY = re.compile(r'"([^"\\]{1,100})"\s*:')
_NUMBER = r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?"
_POSITION_COLUMNS = frozenset(("position", "doc position", "rank"))


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
    """The beginning of a file.

    sign: `{` or `[` if it is JSON, and then keys: the names of members of objects, at any depth. is_ours: whether it names our own
    format, of any version. lines: the first lines of other text that are not blank; header: the cells of the first as CSV, in
    lower case.
    """

    text: str
    sign: str = ""
    keys: AbstractSet[str] = frozenset()
    is_ours: bool = False
    lines: Sequence[str] = ()
    header: Sequence[str] = ()


type Test = Callable[[Head], bool]


@dataclass(frozen=True)
class FileFormat:
    """A format. name: in addresses, commands and forms. label: for people. fits: whether a file begins like it.

    product: which writes such files. read: makes `CaseContent` or `BookContent` of a file, or `Rankings` of the text of a file of
    rankings; None for ratings and queries. Raises `BadFile`. suffixes: with which the names of such files end, in lower case.
    """

    name: str
    kind: FileKind
    label: str
    fits: Test = field(repr=False)
    product: str = ""
    read: Callable[[Any], Any] | None = field(default=None, repr=False)
    suffixes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.label


def has_members(sign: str, *alternatives: AbstractSet[str], without: AbstractSet[str] = frozenset()) -> Test:
    """Returns the test for a JSON object, `{`, or list, `[`, with all members of one of the alternatives, and none of `without`."""
    return lambda head: (
        head.sign == sign and head.keys.isdisjoint(without) and any(names <= head.keys for names in alternatives)
    )


def _is_ours(kind: str) -> Test:
    return lambda head: head.sign == "{" and head.is_ours and f'"{kind}"' in head.text[:1000]


def _has_lines(line: str) -> Test:
    """Returns the test for lines that match a regular expression, besides comments. The last one may be cut off."""
    matches = re.compile(line).match

    def fits(head: Head) -> bool:
        lines = [line for line in head.lines if not line.lstrip().startswith("#")]
        return bool(lines) and all(map(matches, lines[:-1] or lines))

    return fits


def _is_ratings_csv(head: Head) -> bool:
    return bool(head.lines) and ratings_csv.find_layout(head.lines[0]) is not None


def _is_rankings_csv(head: Head) -> bool:
    wanted = (queries_csv.QUERY_COLUMNS, ratings_csv.DOC_ID, _POSITION_COLUMNS)
    return not any(map(set(head.header).isdisjoint, wanted))


def _is_queries_csv(head: Head) -> bool:
    has_documents = not set(head.header).isdisjoint(ratings_csv.DOC_ID) or _is_ratings_csv(head)
    return bool(head.lines) and not has_documents and queries_csv.is_header(head.lines[0])


FORMATS: Sequence[FileFormat] = (
    FileFormat(
        "relevancy-case", FileKind.CASE, "a case of Relevancy", _is_ours("case"), "Relevancy", case_reader.parse_case
    ),
    FileFormat("relevancy-book", FileKind.BOOK, "a book of Relevancy", _is_ours("book"), "Relevancy", reader.read_book),
    FileFormat("csv", FileKind.RATINGS, "ratings as CSV", _is_ratings_csv),
    FileFormat(
        "trec",
        FileKind.RATINGS,
        "TREC qrels",
        _has_lines(rf"\s*\S+\s+(?!qid:)\S+\s+\S+\s+{_NUMBER}\s*$"),
        suffixes=(".qrels",),
    ),
    FileFormat(
        "ltr",
        FileKind.RATINGS,
        "learning to rank (RankLib)",
        _has_lines(r"[-+.\d]\S*\s+qid:\S+"),
        suffixes=(".ltr", ".letor"),
    ),
    FileFormat(
        "rre",
        FileKind.RATINGS,
        "Rated Ranking Evaluator, JSON",
        has_members("{", {"relevant_documents"}, {"topics", "query_groups"}),
    ),
    FileFormat(
        "json",
        FileKind.RATINGS,
        "ratings as JSON",
        has_members("{", {"queries", "query", "ratings"}, without={"case_name", "format", "relevant_documents"}),
    ),
    FileFormat(
        "searchtweak",
        FileKind.RATINGS,
        "judgements of SearchTweak, JSON",
        has_members("[", {"keyword", "grade", "doc"}),
    ),
    FileFormat(
        "rankquest",
        FileKind.RATINGS,
        "rated searches of Rankquest, JSON",
        has_members("[", {"searchContext", "ratings"}),
    ),
    FileFormat("rankings-csv", FileKind.RUNS, "rankings or snapshots as CSV", _is_rankings_csv, read=parse_snapshots),
    FileFormat(
        "trec-run",
        FileKind.RUNS,
        "a TREC run",
        _has_lines(rf"\s*\S+\s+(?!qid:)\S+\s+\S+\s+\S+\s+{_NUMBER}\s+\S"),
        read=parse_snapshots,
        suffixes=(".run",),
    ),
    FileFormat("queries-csv", FileKind.QUERIES, "queries as CSV", _is_queries_csv),
)
PLAIN_QUERIES = FileFormat("queries", FileKind.QUERIES, "queries, one to a line", lambda head: bool(head.lines))


def of_kind(*kinds: FileKind) -> list[FileFormat]:
    """Returns the formats of what a form takes, those of optional apps last."""
    return [candidate for candidate in (*FORMATS, PLAIN_QUERIES, *hooks.file_formats) if candidate.kind in kinds]


def products(kind: FileKind) -> str:
    """Returns the products whose files of a kind can be read: `Relevancy or X`."""
    return _either(dict.fromkeys(candidate.product for candidate in of_kind(kind) if candidate.product))


def read_head(file: IO[bytes]) -> Head:
    """Returns the beginning of a file, or of the JSON file in a ZIP file. The file is at its start again.

    Raises `BadFile` for a damaged ZIP file.
    """
    with open_json(file) as opened:
        content = opened.read(HEAD)
    file.seek(0)
    text = content.decode("utf-8-sig", errors="replace").lstrip("\ufeff \t\r\n")
    if text.startswith("{") or (text.startswith("[") and text[1:].lstrip()[:1] in ("{", "]", "")):
        return Head(text, text[0], frozenset(_KEY.findall(text)), _OURS.search(text) is not None)
    lines = [line for line in text.splitlines()[:MAX_LINES] if line.strip()]
    try:
        cells = next(csv.reader(lines[:1], skipinitialspace=True), [])
    except csv.Error:
        cells = []
    return Head(text, lines=lines, header=[cell.strip().lower() for cell in cells])


def detect(head: Head, name: str = "") -> list[FileFormat]:
    """Returns the formats that a file begins like, the likeliest by its name first; none if it is like none of them.

    Any text could be queries, one to a line; that is not among them.
    """
    fitting = [candidate for candidate in (*FORMATS, *hooks.file_formats) if candidate.fits(head)]
    named = [candidate for candidate in fitting if name.lower().endswith(candidate.suffixes)]
    return named + [candidate for candidate in fitting if candidate not in named]


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
    head = read_head(file)
    fitting = detect(head, name)
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
        if not head.lines:  # JSON, or blank
            raise UnclearFile(
                f"The file has no list of queries. If each line is a query, choose the format “{PLAIN_QUERIES}”.",
                [PLAIN_QUERIES],
            )
        return PLAIN_QUERIES
    if fitting:
        raise BadFile(
            f"The file is {_either(fitting)}: that is {fitting[0].kind}, not {kind}. Import it as {fitting[0].kind}."
        )
    if kind == FileKind.RATINGS and len(head.header) > 1:
        return _named("csv")  # whose errors name the columns
    if kind == FileKind.RUNS and not head.sign:
        return _named("rankings-csv" if len(head.header) > 1 else "trec-run")  # whose errors name line and column
    labels = "; ".join(candidate.label for candidate in offered)
    start = f"; it begins with {quote(head.lines[0][:60])}" if head.lines else ""
    raise BadFile(f"The format of the file was not recognised{start}. {str(kind).capitalize()} can be: {labels}.")


def likely_format(file: IO[bytes], name: str = "") -> FileFormat | None:
    """Returns the format of queries or ratings that a file is most like; None if it is like none of them, such as a list of queries."""
    kinds = (FileKind.RATINGS, FileKind.QUERIES)
    return next((candidate for candidate in detect(read_head(file), name) if candidate.kind in kinds), None)


def find_kind(file: IO[bytes], *, name: str = "", wanted: str = "") -> FileKind:
    """Returns whether a file that may have queries or ratings is read as the one or the other; arguments as for `choose`.

    A text that is like no format is a list of queries, unless its name says that it is a table.
    """
    if wanted:
        offered = of_kind(FileKind.RATINGS, FileKind.QUERIES)
        return next((candidate.kind for candidate in offered if candidate.name == wanted), FileKind.RATINGS)
    if likely := likely_format(file, name):
        return likely.kind
    is_list = bool(read_head(file).lines) and not name.lower().endswith((".csv", ".tsv"))
    return FileKind.QUERIES if is_list else FileKind.RATINGS


def _named(name: str) -> FileFormat:
    return next(file_format for file_format in FORMATS if file_format.name == name)


def _either(named: Iterable[object]) -> str:
    *first, last = map(str, named)
    return f"{', '.join(first)} or {last}" if first else last
