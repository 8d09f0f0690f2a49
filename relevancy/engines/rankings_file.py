"""Files of rankings that another system made: CSV with a header, as Quepid writes it, or a TREC run.

CSV: `Query Text,Doc ID,Doc Position` and any further columns as fields; also `query,docid,position`. Rows are ordered by
position. TREC: `qid Q0 docid rank score tag`, ordered as trec_eval does: by score from high to low, equal scores by document
id from high to low; the rank column is not looked at, and the topic is the query.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from .base import Hit
from .errors import EndpointUnreachable, UnreadableAnswer

_QUERY, _DOC, _POSITION = "Query Text", "Doc ID", "Doc Position"
_NAMES = {
    _QUERY: ("query text", "query", "query_text"),
    _DOC: ("doc id", "docid", "doc_id"),
    _POSITION: ("doc position", "position", "rank"),
}
_NO_FIELDS = ("snapshot name", "snapshot time", "case id", "case name", "team name")
_TREC_COLUMNS = ("query", "Q0", "document", "rank", "score", "tag")
_PROTECTED = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Rankings:
    """`by_query`: hits of each query in rank order. `fields`: names of the further columns, sorted."""

    form: str  # "CSV" or "TREC run"
    by_query: Mapping[str, list[Hit]]
    fields: tuple[str, ...]


@dataclass(frozen=True)
class RankingsSummary:
    """What a page says about a file before it is taken."""

    form: str
    queries: int
    hits: int
    fields: tuple[str, ...]


def check_rankings(text: str) -> RankingsSummary:
    """Read a file that was handed in. Raises `UnreadableAnswer` naming line, column and value."""
    rankings = parse_rankings(text)
    hits = sum(map(len, rankings.by_query.values()))
    return RankingsSummary(rankings.form, len(rankings.by_query), hits, rankings.fields)


def read_rankings(path: Path) -> Mapping[str, list[Hit]]:
    """Hits by query text; a file is read again only after it changed. Raises `EndpointUnreachable`, `UnreadableAnswer`."""
    return load_rankings(path).by_query


def load_rankings(path: Path) -> Rankings:
    """As `read_rankings`, with the form of the file and its fields."""
    try:
        about = path.stat()
        return _load(path, about.st_mtime_ns, about.st_size)
    except OSError as error:
        reason = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
        raise EndpointUnreachable(f"The file of rankings “{path.name}” {reason}.", todo="Upload it again.") from error


def parse_rankings(text: str) -> Rankings:
    """Read either form; a byte order mark, CRLF and blank lines are taken as they come."""
    text = text.removeprefix("\ufeff")
    first = next((line for line in text.splitlines() if line.strip()), "")
    if not first:
        raise UnreadableAnswer(
            "The file of rankings is empty.", todo=f"It needs a header such as {_QUERY},{_DOC},{_POSITION}."
        )
    header = next(csv.reader([first]))
    if _column_of(header, _QUERY) is None and "," not in first and len(first.split()) == len(_TREC_COLUMNS):
        return _parse_trec(text)
    return _parse_csv(text)


@lru_cache(maxsize=8)
def _load(path: Path, changed: int, size: int) -> Rankings:
    data = path.read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableAnswer(
            f"The file of rankings “{path.name}” is not UTF-8: line {line} holds the byte {data[error.start]:#04x}.",
            todo="Save it as UTF-8 and upload it again.",
        ) from None
    return parse_rankings(text)


def _parse_csv(text: str) -> Rankings:
    rows = _csv_rows(text)
    _, header = next(rows)
    header = [name.strip() for name in header]
    places = {name: _required_column(header, name) for name in _NAMES}
    extra = [
        (place, name)
        for place, name in enumerate(header)
        if place not in places.values() and name and name.lower() not in _NO_FIELDS
    ]
    found: dict[str, list[tuple[int, Hit]]] = {}
    for line, row in rows:
        cells = [_unprotected(cell) for cell in row] + [""] * (len(header) - len(row))
        if len(row) > len(header):
            raise _unreadable(line, f"{len(header) + 1}", row[len(header)], "the header has fewer columns")
        query, doc_id = cells[places[_QUERY]], cells[places[_DOC]]
        if not query:
            raise _unreadable(line, header[places[_QUERY]], query, "each row needs a query")
        ranking = found.setdefault(query, [])
        position = cells[places[_POSITION]]
        if doc_id:
            fields = {name: cells[place] for place, name in extra if cells[place]}
            ranking.append((_position(line, header[places[_POSITION]], position), Hit(doc_id, None, fields)))
        elif position:
            raise _unreadable(line, header[places[_DOC]], doc_id, "a row with a position needs a document id")
    return Rankings("CSV", _in_order(found), tuple(sorted({name for _, name in extra})))


def _csv_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, each with the line it ends on."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield reader.line_num, row
    except csv.Error as error:
        raise UnreadableAnswer(
            f"Line {reader.line_num} of the file of rankings is no CSV: {error}.", todo="Check its quotes."
        ) from None


def _in_order(found: Mapping[str, list[tuple[int, Hit]]]) -> dict[str, list[Hit]]:
    return {query: [hit for _, hit in sorted(rows, key=lambda row: row[0])] for query, rows in found.items()}


def _parse_trec(text: str) -> Rankings:
    found: dict[str, list[Hit]] = {}
    for line, row in enumerate(text.split("\n"), 1):
        cells = row.split()
        if not cells:
            continue
        if len(cells) != len(_TREC_COLUMNS):
            raise UnreadableAnswer(
                f"Line {line} of the file of rankings has {len(cells)} columns: “{row.strip()[:80]}”.",
                todo=f"A line of a TREC run has six: {' '.join(_TREC_COLUMNS)}.",
            )
        query, _, doc_id, _, score, _ = cells
        found.setdefault(query, []).append(Hit(doc_id, _score(line, score), {}))
    for hits in found.values():
        hits.sort(key=lambda hit: (hit.score, hit.id), reverse=True)
    return Rankings("TREC run", found, ())


def _column_of(header: list[str], name: str) -> int | None:
    return next((place for place, cell in enumerate(header) if cell.strip().lower() in _NAMES[name]), None)


def _required_column(header: list[str], name: str) -> int:
    place = _column_of(header, name)
    if place is None:
        raise UnreadableAnswer(
            f"The file of rankings has no column “{name}”; its first line is “{','.join(header)[:120]}”.",
            todo=f"It needs a header such as {_QUERY},{_DOC},{_POSITION}, or the six columns of a TREC run.",
        )
    return place


def _unprotected(cell: str) -> str:
    """Without the apostrophe that keeps spreadsheets from running a cell that starts like a formula."""
    return (cell[1:] if cell.startswith("'") and cell[1:2] in _PROTECTED and len(cell) > 1 else cell).strip()


def _position(line: int, column: str, text: str) -> int:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not number.is_integer():
        raise _unreadable(line, column, text, "a position is a whole number")
    return int(number)


def _score(line: int, text: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise _unreadable(line, "score", text, "a score is a number")
    return score


def _unreadable(line: int, column: str, value: str, rule: str) -> UnreadableAnswer:
    return UnreadableAnswer(
        f"Line {line}, column {column} of the file of rankings is “{value[:80]}”: {rule}.", todo="Correct it."
    )
