"""CSV cells that a spreadsheet would take for a formula."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence

from .errors import BadFile

_DANGEROUS = re.compile(r"'*[=+\-@\t\r]")
MAX_BYTES = 50 * 1024 * 1024


def guard(text: str) -> str:
    """The cell with an apostrophe before what a spreadsheet would run, and before what looks as if it had one already."""
    return "'" + text if _DANGEROUS.match(text) else text


def unguard(text: str) -> str:
    """The cell without the apostrophe that `guard` put there."""
    return text[1:] if text.startswith("'") and _DANGEROUS.match(text) else text


def write_rows(header: Sequence[str], rows: Iterable[Sequence[str | int | float]]) -> str:
    """A CSV text with LF line ends; cells that are texts are guarded, numbers are not."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([guard(name) for name in header])
    writer.writerows([guard(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return out.getvalue()


def guarded(row: Sequence[str | int | float]) -> str:
    """One line of CSV with its LF; cells that are texts are guarded, numbers are not."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow([guard(cell) if isinstance(cell, str) else cell for cell in row])
    return out.getvalue()


def decode(content: bytes) -> str:
    """UTF-8 with or without a byte order mark."""
    if len(content) > MAX_BYTES:
        raise BadFile(f"The file has {len(content):,} bytes; {MAX_BYTES:,} are possible.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise BadFile(
            f"the byte 0x{content[error.start]:02x} is no UTF-8. Save the file as UTF-8.", line=line
        ) from None


def read_rows(text: str, header: Sequence[Sequence[str]]) -> Iterator[tuple[int, list[str]]]:
    """`(line, cells)` of a CSV text whose header is one of `header`'s spellings per column. Raises `BadFile`."""
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    try:
        first = [cell.strip().lower() for cell in next(reader, [])]
        wanted = ",".join(names[0] for names in header)
        if len(first) != len(header) or any(cell not in names for cell, names in zip(first, header, strict=True)):
            raise BadFile(f"the header is {','.join(first)!r}; it must be {wanted!r}.", line=1)
        while True:
            line = reader.line_num + 1
            cells = next(reader)
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                raise BadFile(
                    f"{len(cells)} columns instead of {len(header)} ({wanted}): {','.join(cells)[:80]!r}.", line=line
                )
            yield line, [unguard(cell) for cell in cells]
    except StopIteration:
        return
    except csv.Error as error:
        raise BadFile(f"this is no CSV: {error}.", line=reader.line_num) from None
