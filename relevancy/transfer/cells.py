"""Text files and CSV cells, protected against spreadsheets that would run a cell as a formula."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence

from .errors import BadFile, quote

type Cell = str | int | float

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
MAX_BYTES = 50 * 1024 * 1024


def protect(text: str) -> str:
    """Returns the cell with an apostrophe before a formula, and before text that already looks like a protected formula."""
    return "'" + text if _FORMULA.match(text) else text


def unprotect(text: str) -> str:
    """Returns the cell without the apostrophe that `protect` adds."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def format_rows(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Returns CSV text with LF line ends. Strings are protected, numbers are written as they are."""
    return format_row(header) + "".join(map(format_row, rows))


def format_row(row: Sequence[Cell]) -> str:
    """Returns one line of CSV with its LF. Strings are protected, numbers are written as they are."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow([protect(cell) if isinstance(cell, str) else cell for cell in row])
    return out.getvalue()


def decode(content: bytes) -> str:
    """Returns the text of a UTF-8 file, with or without a byte order mark. Raises `BadFile`."""
    if len(content) > MAX_BYTES:
        raise BadFile(f"The file has {len(content):,} bytes; the maximum is {MAX_BYTES:,}.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise BadFile(
            f"the byte 0x{content[error.start]:02x} is not valid UTF-8. Save the file as UTF-8.", line=line
        ) from None


def read_rows(text: str, header: Sequence[Sequence[str]]) -> Iterator[tuple[int, list[str]]]:
    """Yields `(line, cells)` for each row of a CSV text that is not blank. Raises `BadFile`.

    `header` lists the accepted names of each column, the preferred name first.
    """
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    try:
        names = [cell.strip().lower() for cell in next(reader, [])]
        expected = ",".join(accepted[0] for accepted in header)
        if len(names) != len(header) or any(name not in accepted for name, accepted in zip(names, header, strict=True)):
            raise BadFile(f"the header is {quote(','.join(names))}; it must be {expected!r}.", line=1)
        while True:
            line = reader.line_num + 1
            cells = next(reader)
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                raise BadFile(
                    f"{len(cells)} columns instead of {len(header)} ({expected}): {quote(','.join(cells))}.", line=line
                )
            yield line, [unprotect(cell) for cell in cells]
    except StopIteration:
        return
    except csv.Error as error:
        raise BadFile(f"this is not valid CSV: {error}.", line=reader.line_num) from None
