"""Files of rankings that another system produced: CSV with a header, as Quepid writes it, or a TREC run.

CSV: `Query Text,Doc ID,Doc Position` (or `query,docid,position`), further columns are fields. Rows are ordered by position.
`Snapshot Name`, `Snapshot Time` and `Case ID` tell snapshots apart. An engine needs a file with a single one.

TREC run: `qid Q0 docid rank score tag`, ordered as by trec_eval: by descending score, equal scores by descending document id.
The rank is ignored, and so is everything after the tag; lines that begin with `#` are comments. The topic is the query. Each tag is
a snapshot.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from relevancy.engines.errors import EndpointUnreachable, UnreadableResponse
from relevancy.engines.types import Hit
from relevancy.slow_requests import READING_TOO_LONG, is_late

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
MAX_SIZE = 2_000_000  # hits and their fields in a file: some hundred megabytes


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


def load_rankings(path: Path) -> Rankings:
    """Reads a file, the last one again only if it has changed. Raises `EndpointUnreachable` or `UnreadableResponse`."""
    try:
        stat = path.stat()
        return _load(path, stat.st_mtime_ns, stat.st_size)
    except OSError as error:
        reason = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
        raise EndpointUnreachable(f"The file of rankings “{path.name}” {reason}.", hint="Upload it again.") from error


def parse_rankings(text: str) -> Rankings:
    """Parses a file of either format with a single snapshot; accepts a byte order mark, CRLF and blank lines."""
    snapshots = parse_snapshots(text)
    _check_single_snapshot(snapshots)
    return snapshots[0]


def parse_snapshots(text: str) -> list[Rankings]:
    """Parses a file of either format, with at least one snapshot, in the file's order. Raises `UnreadableResponse`."""
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        line = sum(1 for _ in _LINE.finditer(text, 0, text.index("\0") + 1))
        raise UnreadableResponse(
            f"Line {line} of the file of rankings contains the character U+0000.", hint="Remove it."
        )
    lines = ((number, line) for number, line in enumerate(_lines(text), 1) if line.strip())
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
        return _parse_trec(text)
    return _parse_csv(text)


@lru_cache(maxsize=1)
def _load(path: Path, _mtime_ns: int, _size: int) -> Rankings:
    content = path.read_bytes()
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnreadableResponse(
            f"The file of rankings “{path.name}” is not UTF-8: line {line} contains the byte {content[error.start]:#04x}.",
            hint="Save it as UTF-8 and upload it again.",
        ) from None
    return parse_rankings(text)


type _Rows = dict[str, list[tuple[float, Hit]]]  # hits by query, each with what it is sorted by


def _parse_csv(text: str) -> list[Rankings]:
    rows = _csv_rows(text)
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
    rows_by_snapshot: dict[tuple[str, ...], _Rows] = {}
    not_ranked: Counter[tuple[str, ...]] = Counter()
    size = 0
    for line, row in rows:
        if len(row) > len(header):
            raise _invalid_cell(line, f"{len(header) + 1}", row[len(header)], "the header has fewer columns")
        cells = [unprotect(cell).strip() for cell in row] + [""] * (len(header) - len(row))
        query, doc_id = cells[columns[_QUERY]], cells[columns[_DOC]]
        if not query:
            raise _invalid_cell(line, header[columns[_QUERY]], query, "every row needs a query")
        key = tuple(cells[index] for index in snapshot_columns)
        hits = rows_by_snapshot.setdefault(key, {}).setdefault(query, [])
        position = cells[columns[_POSITION]]
        if rated_only is not None and cells[rated_only].lower() in ("true", "1"):
            not_ranked[key] += 1
        elif doc_id:
            fields = {name: cells[index] for index, name in field_columns if cells[index]}
            size += 1 + len(fields)
            _check_size(size, line)
            hits.append((_parse_position(line, header[columns[_POSITION]], position), Hit(doc_id, None, fields)))
        elif position:
            raise _invalid_cell(line, header[columns[_DOC]], doc_id, "a row with a position needs a document id")
    names = tuple(sorted({name for _, name in field_columns}))
    labels = [header[index].lower() for index in snapshot_columns]
    snapshots = []
    for key, rankings in rows_by_snapshot.items():
        labelled = dict(zip(labels, key, strict=True))
        for query, hits in rankings.items():
            # An engine may return a document at two positions, and two documents may share one.
            _check_repetitions(query, [(hit.id, position) for position, hit in hits])
            hits.sort(key=lambda hit: hit[0])
        ordered = {query: [hit for _, hit in hits] for query, hits in rankings.items()}
        name, time = labelled.get("snapshot name", ""), labelled.get("snapshot time", "")
        snapshots.append(Rankings(CSV, ordered, names, name, time, not_ranked[key]))
    return snapshots or [Rankings(CSV, {}, names)]


def _check_size(size: int, line: int) -> None:
    if size > MAX_SIZE:
        raise UnreadableResponse(
            f"Line {line} of the file of rankings exceeds the limit: a file can have at most {MAX_SIZE:,} results and field values.",
            hint="Leave out columns or low ranks, or split the file.",
        )


def _lines(text: str) -> Iterator[str]:
    """Yields the lines with their ends, one at a time: a list of them needs several times the memory of the text."""
    for number, match in enumerate(_LINE.finditer(text)):
        if number % _LINES_BETWEEN_CHECKS == 0 and is_late():
            raise UnreadableResponse(READING_TOO_LONG)
        yield match[0]


def _check_single_snapshot(snapshots: list[Rankings]) -> None:
    if len(snapshots) <= 1:
        return
    names = [f"“{' of '.join(filter(None, (snapshot.name, snapshot.time)))}”" for snapshot in snapshots]
    more = f" and {len(names) - _MAX_NAMED_SNAPSHOTS} more" if len(names) > _MAX_NAMED_SNAPSHOTS else ""
    raise UnreadableResponse(
        f"The file of rankings contains {len(snapshots)} snapshots: {', '.join(names[:_MAX_NAMED_SNAPSHOTS])}{more}.",
        hint="Save the rows of each snapshot as a file of its own, and upload the one that is to be scored.",
    )


def _csv_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yields the rows that are not blank, each with the number of its first line."""
    reader = csv.reader(requote(_lines(text)), strict=True)
    line = 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise _invalid_csv(error, line) from None


def _invalid_csv(error: csv.Error, line: int) -> UnreadableResponse:
    """Returns the error of the row that begins in a line."""
    return UnreadableResponse(
        f"Line {line} of the file of rankings is not valid CSV: {error}.", hint="Check its quotes."
    )


def _check_repetitions(query: str, documents: list[tuple[str, float | None]]) -> None:
    """Raises `UnreadableResponse` if an id occurs twice at the same position; None if the position does not matter."""
    if len(set(documents)) == len(documents):
        return
    (doc_id, position), _ = Counter(documents).most_common(1)[0]
    place = "" if position is None else f" at position {position:,.0f}"
    raise UnreadableResponse(
        f"The file of rankings has document “{doc_id[:80]}”{place} of the query “{query[:80]}” twice.",
        hint="Remove one of the lines.",
    )


def _parse_trec(text: str) -> list[Rankings]:
    hits_by_tag: dict[str, dict[str, list[Hit]]] = {}
    size = 0
    for line, row in enumerate(_lines(text), 1):
        cells = row.split()
        if not cells or row.startswith("#"):
            continue
        if len(cells) < len(_TREC_COLUMNS):
            raise UnreadableResponse(
                f"Line {line} of the file of rankings has {len(cells)} columns: “{row.strip()[:80]}”.",
                hint=f"A line of a TREC run has six: {' '.join(_TREC_COLUMNS)}.",
            )
        query, _, doc_id, _, score, tag = cells[:6]
        hits = hits_by_tag.setdefault(tag, {}).setdefault(query, [])
        hits.append(Hit(doc_id, _parse_score(line, score), {}))
        size += 1
        _check_size(size, line)
    for hits_by_query in hits_by_tag.values():
        for query, hits in hits_by_query.items():
            _check_repetitions(query, [(hit.id, None) for hit in hits])
            hits.sort(key=lambda hit: (hit.score, hit.id), reverse=True)
    return [Rankings(TREC_RUN, hits_by_query, (), tag) for tag, hits_by_query in hits_by_tag.items()]


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
