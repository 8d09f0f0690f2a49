"""Cells of CSV files that need more than the standard: those of Quepid, and those that are protected against spreadsheets."""

import re
from collections.abc import Iterable, Iterator

# What spreadsheets run as a formula, also with full-width signs, which some of them take for ASCII; or what looks protected.
FORMULA = re.compile(r"'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]")
_HEADERS = ("team name,case name,", "snapshot name,snapshot time,")
_CELL = re.compile(r'(?P<quoted>"(?:[^"]|"")*"(?=,|[\r\n]|\Z))|(?P<opened>"(?:[^"]|"")*\Z)|(?P<plain>[^,\r\n]*)')
_REST_OF_CELL = re.compile(r'(?:[^"]|"")*"(?!")')


def unprotect(text: str) -> str:
    """Returns a cell without the apostrophe that protects a formula; see `formats.cells.protect`."""
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text


def requote(lines: Iterable[str]) -> Iterator[str]:
    """Yields the lines of a CSV file, those of a file from Quepid as every program reads them.

    Quepid's pages double quotes in every cell, but quote only cells with a comma or a line end. The cell of the query "a b" is then
    quoted with its quotes doubled, not only these. A file is from Quepid if its header begins like those of the general, detailed and
    snapshot files. Each line stays a line.
    """
    lines = iter(lines)
    first = next(lines, "")
    yield first
    if not first.removeprefix("\ufeff").lower().startswith(_HEADERS):
        yield from lines
        return
    is_open = False  # whether a quoted cell goes on from the line before
    for line in lines:
        start = 0
        if is_open:
            end = _REST_OF_CELL.match(line)
            if end is None:
                yield line
                continue
            start = end.end()
        is_open = False
        if '"' not in line[start:]:
            yield line
            continue
        cells = [line[:start]]
        while start < len(line):
            cell = _CELL.match(line, start)
            assert cell is not None  # a plain cell may be empty
            is_open = cell["opened"] is not None
            text = cell[0]
            if cell["plain"] and '"' in text:
                text = '"' + text.replace('""', '"').replace('"', '""') + '"'
            separator = line[cell.end() : cell.end() + 1]
            cells.append(text + separator)
            start = cell.end() + 1
        yield "".join(cells)
