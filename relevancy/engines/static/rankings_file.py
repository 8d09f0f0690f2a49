"""Files of rankings that another system produced: CSV with a header, as Quepid writes it, or a TREC run.

CSV: `Query Text,Doc ID,Doc Position` (or `query,docid,position`), further columns are fields. Rows are ordered by position.
`Snapshot Name`, `Snapshot Time` and `Case ID` tell snapshots apart. An engine needs a file with a single one.

TREC run: `qid Q0 docid rank score tag`, ordered as by trec_eval: by descending score, equal scores by descending document id.
The rank is ignored, and so is everything after the tag; lines that begin with `#` are comments. The topic is the query. Each tag is
a snapshot.

One parser yields the rows of a file as it reads them. `parse_snapshots` collects them in memory, for runs that are imported;
`rankings_index` writes them beside the file, for the engine, so that a file may be of any size.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from relevancy.engines.errors import UnreadableResponse
from relevancy.engines.types import Hit
from relevancy.slow_requests import READING_TOO_LONG, is_late
from relevancy.wording import listed

from .csv_cells import requote, unprotect

_QUERY, _DOC, _POSITION = "Query Text", "Doc ID", "Doc Position"
_ALIASES = {
    _QUERY: ("query text", "query", "query_text"),
    _DOC: ("doc id", "docid", "doc_id"),
    _POSITION: ("doc position", "position", "rank"),
}
_SNAPSHOT_COLUMNS = ("snapshot name", "snapshot time", "case id")
_RATED_ONLY = ("rated_only", "rated only")
_IGNORED_COLUMNS = (*_SNAPSHOT_COLUMNS, "case name", "team name", *_RATED_ONLY)
_TREC_COLUMNS = ("query", "Q0", "document", "rank", "score", "tag")
_MAX_NAMED_SNAPSHOTS = 5
CSV, TREC_RUN = "CSV", "TREC run"
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_LINES_BETWEEN_CHECKS = 1_000  # of the time
MAX_SIZE = 2_000_000  # hits and their fields in a file whose runs are imported, which is held in memory: some hundred megabytes


@dataclass(frozen=True)
class Rankings:
    """Rankings of one system at one time: the rows of a file with the same snapshot name, time and case, or with the same tag.

    `format`: `CSV`, `TREC run`, or what another parser names.
    `hits_by_query`: hits of each query in rank order, in the file's order of queries.
    `fields`: names of the further columns, sorted.
    `name`, `time`: of the snapshot as written in the file; empty where it has no such column. `name` is the tag of a TREC run.
    `not_ranked`: rows that were left out, because Quepid marks their documents as rated only: the search did not return them.
    """

    format: str
    hits_by_query: Mapping[str, list[Hit]]
    fields: tuple[str, ...]
    name: str = ""
    time: str = ""
    not_ranked: int = 0


class Row(NamedTuple):
    """A line of a file: a hit of a query, or that the query has none.

    snapshot: values that tell the snapshots of a file apart. rank: what the hits of a query are sorted by: a position, or the score
    of a TREC run. doc_id: empty if the line is not a hit. is_rated_only: the document was rated and not returned.
    """

    snapshot: tuple[str, ...]
    query: str
    rank: float = 0
    doc_id: str = ""
    fields: Mapping[str, str] = {}
    is_rated_only: bool = False


@dataclass(frozen=True)
class ParsedFile:
    """What a file of either format begins with, and its rows. labels: what the values of `Row.snapshot` are called, in lower case."""

    format: str
    fields: tuple[str, ...]
    labels: tuple[str, ...]
    rows: Iterator[Row]

    def named(self, snapshot: tuple[str, ...]) -> tuple[str, str]:
        """Returns the name and the time of a snapshot, empty where the file has none."""
        values = dict(zip(self.labels, snapshot, strict=True))
        return values.get("snapshot name", values.get("tag", "")), values.get("snapshot time", "")


def parse_snapshots(text: str) -> list[Rankings]:
    """Parses a file of either format, with at least one snapshot, in the file's order; accepts a byte order mark, CRLF and blank lines.

    Raises `UnreadableResponse`.
    """
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        raise null_character(sum(1 for _ in _LINE.finditer(text, 0, text.index("\0") + 1)))
    parsed = parse_file(lambda: _lines(text), limit=MAX_SIZE)
    hits_by_snapshot: dict[tuple[str, ...], dict[str, list[tuple[float, Hit]]]] = {}
    not_ranked: Counter[tuple[str, ...]] = Counter()
    for row in parsed.rows:
        hits = hits_by_snapshot.setdefault(row.snapshot, {}).setdefault(row.query, [])
        if row.doc_id:
            score = row.rank if parsed.format == TREC_RUN else None
            hits.append((row.rank, Hit(row.doc_id, score, row.fields)))
        elif row.is_rated_only:
            not_ranked[row.snapshot] += 1
    snapshots = []
    for key, rankings in hits_by_snapshot.items():
        for query, hits in rankings.items():
            check_repetitions(parsed.format, query, [(hit.id, rank) for rank, hit in hits])
            sort_hits(parsed.format, hits, lambda hit: hit.id)
        ordered = {query: [hit for _, hit in hits] for query, hits in rankings.items()}
        snapshots.append(Rankings(parsed.format, ordered, parsed.fields, *parsed.named(key), not_ranked[key]))
    return snapshots or [Rankings(parsed.format, {}, parsed.fields)]


def parse_file(open_lines: Callable[[], Iterator[str]], *, limit: int = 0) -> ParsedFile:
    """Returns what the lines of a file begin with, and its rows, which are parsed as they are taken.

    open_lines: returns the lines with their ends, from the first one; it is called twice. limit: of hits and field values; 0 means
    none. Raises `UnreadableResponse`, as taking the rows does.
    """
    lines = ((number, line) for number, line in enumerate(open_lines(), 1) if line.strip())
    number, first = next(lines, (1, ""))
    while first.startswith("#"):
        number, first = next(lines, (1, ""))
    if not first:
        raise UnreadableResponse(
            "The file of rankings is empty.", hint=f"It needs a header such as {_QUERY},{_DOC},{_POSITION}."
        )
    try:
        header = next(csv.reader([first]))
    except csv.Error as error:
        raise _invalid_csv(error, number) from None
    if _column_index(header, _QUERY) is None and "," not in first and len(first.split()) >= len(_TREC_COLUMNS):
        return ParsedFile(TREC_RUN, (), ("tag",), _parse_trec(open_lines(), limit))
    return _parse_csv(open_lines(), limit)


def sort_hits[H](file_format: str, hits: list[tuple[float, H]], id_of: Callable[[H], str]) -> None:
    """Sorts the hits of a query, each after its rank: by position, or by descending score and id."""
    if file_format == TREC_RUN:
        hits.sort(key=lambda hit: (hit[0], id_of(hit[1])), reverse=True)
    else:
        hits.sort(key=lambda hit: hit[0])


def check_repetitions(file_format: str, query: str, documents: Sequence[tuple[str, float]]) -> None:
    """Raises `UnreadableResponse` if an id occurs twice: in CSV at the same position, in a TREC run at all.

    An engine may return a document at two positions, and two documents may share one.
    """
    if file_format == TREC_RUN:
        documents = [(doc_id, 0) for doc_id, _ in documents]
    if len(set(documents)) == len(documents):
        return
    (doc_id, position), _ = Counter(documents).most_common(1)[0]
    place = "" if file_format == TREC_RUN else f" at position {position:,.0f}"
    raise UnreadableResponse(
        f"The file of rankings has document “{doc_id[:80]}”{place} of the query “{query[:80]}” twice.",
        hint="Remove one of the lines.",
    )


def check_single_snapshot(snapshots: Sequence[tuple[str, str]]) -> None:
    """Raises `UnreadableResponse` if a file has several snapshots. snapshots: name and time of each."""
    if len(snapshots) <= 1:
        return
    names = [f"“{' of '.join(filter(None, snapshot))}”" for snapshot in snapshots]
    raise UnreadableResponse(
        f"The file of rankings contains {len(snapshots)} snapshots: {listed(names, _MAX_NAMED_SNAPSHOTS)}.",
        hint="Save the rows of each snapshot as a file of its own, and upload the one that is to be scored.",
    )


def null_character(line: int) -> UnreadableResponse:
    """Returns the error of a line that contains U+0000."""
    return UnreadableResponse(f"Line {line} of the file of rankings contains the character U+0000.", hint="Remove it.")


def check_time(number: int) -> None:
    """Raises `UnreadableResponse` if a page has no time left. number: of lines that have been read; most are not checked."""
    if number % _LINES_BETWEEN_CHECKS == 0 and is_late():
        raise UnreadableResponse(READING_TOO_LONG)


def _parse_csv(lines: Iterator[str], limit: int) -> ParsedFile:
    rows = _csv_rows(lines)
    _, header = next(rows)
    header = [name.strip() for name in header]
    columns = {name: _required_column(header, name) for name in _ALIASES}
    snapshot_columns = [index for index, name in enumerate(header) if name.lower() in _SNAPSHOT_COLUMNS]
    field_columns = [
        (index, name)
        for index, name in enumerate(header)
        if index not in columns.values() and name and name.lower() not in _IGNORED_COLUMNS
    ]
    rated_only = next((index for index, name in enumerate(header) if name.lower() in _RATED_ONLY), None)
    query_column, doc_column, position_column = columns.values()

    def read() -> Iterator[Row]:
        size = 0
        for line, row in rows:
            if len(row) > len(header):
                raise _invalid_cell(line, f"{len(header) + 1}", row[len(header)], "the header has fewer columns")
            cells = [unprotect(cell).strip() for cell in row] + [""] * (len(header) - len(row))
            query, doc_id, position = cells[query_column], cells[doc_column], cells[position_column]
            if not query:
                raise _invalid_cell(line, header[query_column], query, "every row needs a query")
            key = tuple([cells[index] for index in snapshot_columns])
            if rated_only is not None and cells[rated_only].lower() in ("true", "1"):
                yield Row(key, query, is_rated_only=True)
            elif doc_id:
                fields = {name: cells[index] for index, name in field_columns if cells[index]}
                size += 1 + len(fields)
                _check_size(size, limit, line)
                yield Row(key, query, _parse_position(line, header[position_column], position), doc_id, fields)
            elif position:
                raise _invalid_cell(line, header[doc_column], doc_id, "a row with a position needs a document id")
            else:
                yield Row(key, query)

    names = tuple(sorted({name for _, name in field_columns}))
    return ParsedFile(CSV, names, tuple(header[index].lower() for index in snapshot_columns), read())


def _parse_trec(lines: Iterator[str], limit: int) -> Iterator[Row]:
    size = 0
    for line, row in enumerate(lines, 1):
        cells = row.split()
        if not cells or row.startswith("#"):
            continue
        if len(cells) < len(_TREC_COLUMNS):
            raise UnreadableResponse(
                f"Line {line} of the file of rankings has {len(cells)} columns: “{row.strip()[:80]}”.",
                hint=f"A line of a TREC run has six: {' '.join(_TREC_COLUMNS)}.",
            )
        query, _, doc_id, _, text, tag = cells[:6]
        score = _parse_score(line, text)
        size += 1
        _check_size(size, limit, line)
        yield Row((tag,), query, score, doc_id)


def _check_size(size: int, limit: int, line: int) -> None:
    if 0 < limit < size:
        raise UnreadableResponse(
            f"Line {line} of the file of rankings exceeds the limit: a file whose runs are imported is held in memory and can have at "
            f"most {limit:,} results and field values.",
            hint="Leave out columns or low ranks, or split the file.",
        )


def _lines(text: str) -> Iterator[str]:
    """Yields the lines with their ends, one at a time: a list of them needs several times the memory of the text."""
    for number, match in enumerate(_LINE.finditer(text)):
        check_time(number)
        yield match[0]


def _csv_rows(lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    """Yields the rows that are not blank, each with the number of its first line."""
    reader = csv.reader(requote(lines), strict=True)
    line = 1
    try:
        for row in reader:
            if any(map(str.strip, row)):
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise _invalid_csv(error, line) from None


def _invalid_csv(error: csv.Error, line: int) -> UnreadableResponse:
    """Returns the error of the row that begins in a line."""
    return UnreadableResponse(
        f"Line {line} of the file of rankings is not valid CSV: {error}.", hint="Check its quotes."
    )


def _column_index(header: list[str], name: str) -> int | None:
    return next((index for index, cell in enumerate(header) if cell.strip().lower() in _ALIASES[name]), None)


def _required_column(header: list[str], name: str) -> int:
    index = _column_index(header, name)
    if index is None:
        raise UnreadableResponse(
            f"The file of rankings has no column “{name}”; its first line is “{','.join(header)[:120]}”.",
            hint=f"It needs a header such as {_QUERY},{_DOC},{_POSITION}, or the six columns of a TREC run.",
        )
    return index


def _parse_position(line: int, column: str, text: str) -> int:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not number.is_integer():
        raise _invalid_cell(line, column, text, "a position is a whole number")
    return int(number)


def _parse_score(line: int, text: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise _invalid_cell(line, "score", text, "a score is a number")
    return score


def _invalid_cell(line: int, column: str, value: str, rule: str) -> UnreadableResponse:
    return UnreadableResponse(
        f"Line {line}, column {column} of the file of rankings is “{value[:80]}”: {rule}.", hint="Correct it."
    )
