"""Text files and CSV cells, protected against spreadsheets that would run a cell as a formula."""

import codecs
import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import batched, chain
from typing import IO

from relevancy.engines.static.csv_cells import FORMULA, requote, unprotect
from relevancy.slow_requests import READING_TOO_LONG, is_late

from .errors import BadFile, UnreadableFile, quote

type Cell = str | int | float | None

MAX_BYTES = 50 * 1024 * 1024
MAX_STREAMED = (
    1024 * 1024 * 1024
)  # of files that commands read in parts: what is kept of them meanwhile is on disk, too
MAX_LINE = 1_000_000
MAX_ROWS = 2_000_000
MAX_COUNT = 10**12
READ_BYTES = 64 * 1024
_WHOLE = re.compile(r"[0-9]{1,13}")
_ZIP = b"PK\x03\x04"
ROWS_AT_ONCE = 1_000


def protect(text: str) -> str:
    """Returns the cell with an apostrophe before a formula, and before text that already looks like a protected formula."""
    return "'" + text if FORMULA.match(text) else text


def rounded(value: float | None, places: int = 4) -> float | None:
    """Returns a number as CSV has it."""
    return None if value is None else round(value, places) + 0.0  # adding zero turns −0.0 into 0.0


def write_rows(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Yields CSV text with LF line ends in parts of 1,000 rows, so that memory does not grow with their number.

    Strings are protected, numbers are written as they are, and None is an empty cell.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for batch in batched(chain([header], rows), ROWS_AT_ONCE):
        writer.writerows([protect(cell) if isinstance(cell, str) else cell for cell in row] for row in batch)
        yield out.getvalue()
        out.seek(0)
        out.truncate()


class _Returned:
    """A file whose `write` returns the text, as the writer of a row then does."""

    @staticmethod
    def write(text: str) -> str:
        return text


_write_row = csv.writer(_Returned(), lineterminator="\n").writerow


def row_text(cells: Iterable[Cell]) -> str:
    """Returns a row as `write_rows` writes it, without its line end: for parts of rows that many rows have in common."""
    text: str = _write_row([protect(cell) if isinstance(cell, str) else cell for cell in cells])  # type: ignore[assignment]
    return text[:-1]


def decode(content: bytes) -> str:
    """Returns the text of a UTF-8 file, with or without a byte order mark. Raises `BadFile`."""
    if len(content) > MAX_BYTES:
        raise BadFile(f"The file is too large: the maximum is {MAX_BYTES:,} bytes.")
    check_no_zip(content)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadFile.not_utf8(error, 0) from None


def check_no_zip(content: bytes) -> None:
    """Raises `UnreadableFile` for the beginning of a ZIP file."""
    if content.startswith(_ZIP):
        raise UnreadableFile("This is a ZIP file, but text is needed. Unpack it.")


def read_lines(file: IO[bytes], *, limit: int | None = None) -> Iterator[str]:
    """Yields the lines of a UTF-8 file, with or without a byte order mark, and their ends. Reads no further than it is asked to.

    limit: of bytes, `MAX_BYTES` unless given. Raises `UnreadableFile` for a longer file, for a line of more than `MAX_LINE`
    characters, and for other encodings.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    size, number, rest = 0, 0, ""
    limit = MAX_BYTES if limit is None else limit
    while True:
        if is_late():
            raise UnreadableFile(READING_TOO_LONG)
        content = file.read(READ_BYTES)
        if not size:
            check_no_zip(content)
        size += len(content)
        if size > limit:
            raise UnreadableFile(f"The file is too large: the maximum is {limit:,} bytes. Split it.")
        try:
            text = decoder.decode(content, final=not content)
        except UnicodeDecodeError as error:
            raise UnreadableFile.not_utf8(error, number + rest.count("\n")) from None
        lines = io.StringIO(rest + text, newline="").readlines()
        # The last line may go on in what is read next, and so may a line end of two characters.
        rest = lines.pop() if lines and content else ""
        number += len(lines)
        yield from lines
        if len(rest) > MAX_LINE:
            raise UnreadableFile(f"the line has more than {MAX_LINE:,} characters.", line=number + 1)
        if not content:
            return


def read_table(lines: Iterable[str], *, delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Yields `(line, cells)` for the first row of a CSV file, given its lines, and for each further one that is not blank.

    line: where the row begins. delimiter: between cells.
    Spaces before and after cells, and the apostrophes of `protect`, are removed. Raises `BadFile`, also after `MAX_ROWS` rows.
    """
    reader = csv.reader(requote(lines), strict=True, skipinitialspace=True, delimiter=delimiter)
    rows, line = 0, 1
    try:
        while True:
            line = reader.line_num + 1
            cells = [cell.strip() for cell in next(reader)]
            if not any(cells) and rows:
                continue
            rows += 1
            if rows > MAX_ROWS + 1:
                raise BadFile(f"the file has more than {MAX_ROWS:,} rows. Split it.", line=line)
            yield line, [unprotect(cell) if cell.startswith("'") else cell for cell in cells]
    except StopIteration:
        return
    except csv.Error as error:
        raise _invalid_row(error, line, reader.line_num) from None


def find_columns(header: Sequence[str], names: Mapping[str, Collection[str]]) -> dict[str, int]:
    """Returns the numbers of the columns that a header has. names: of each, in lower case. Raises `BadFile` if one is repeated."""
    cells = [cell.strip().lower() for cell in header]
    columns = {}
    for column, accepted in names.items():
        numbers = [number for number, cell in enumerate(cells) if cell in accepted]
        if len(numbers) > 1:
            raise BadFile(f"the header has more than one column {column}: {quote(','.join(header))}.", line=1)
        if numbers:
            columns[column] = numbers[0]
    return columns


def check_width(cells: Sequence[str], width: int, line: int) -> None:
    """Raises `BadFile` for a row with more or fewer cells than the header, which has `width`."""
    if len(cells) != width:
        raise BadFile(f"{len(cells)} columns instead of {width}: {quote(','.join(cells))}.", line=line)


def parse_count(text: str, column: str, line: int) -> int:
    """Returns the whole number in a cell. Raises `BadFile` for another text, and for a number above `MAX_COUNT`."""
    if not _WHOLE.fullmatch(text) or int(text) > MAX_COUNT:
        raise BadFile(f"column {column}: {quote(text)} is not a whole number from 0 to {MAX_COUNT:,}.", line=line)
    return int(text)


def _invalid_row(error: csv.Error, first_line: int, last_line: int) -> BadFile:
    """Returns the error of a row from its first line to the line where it was found."""
    if "unexpected end of data" in str(error):
        return BadFile(
            "this is not valid CSV: a quotation mark is opened in this row and never closed.", line=first_line
        )
    if "field larger than" in str(error):
        limit = csv.field_size_limit()
        return BadFile(
            f"this is not valid CSV: a cell has more than {limit:,} characters, or a quotation mark in this row is not closed.",
            line=first_line,
        )
    return BadFile(f"this is not valid CSV: {error}.", line=last_line)
