"""Search logs in the formats that can be read."""

from collections.abc import Collection
from typing import IO

from .errors import BadFile
from .search_log import MAX_BYTES, SearchLog, read_csv
from .ubi import CLICK, read_ubi

PEEKED = 1_000
_BOM = b"\xef\xbb\xbf"


def read_log(
    file: IO[bytes],
    events_file: IO[bytes] | None = None,
    *,
    actions: Collection[str] = (CLICK,),
    limit: int = MAX_BYTES,
) -> SearchLog:
    """Reads a log: CSV, or `ubi_queries` of UBI if it begins with a brace, perhaps with `ubi_events`. Close it after use.

    actions: names of events that are clicks. limit: of bytes in each file. Raises `BadFile` with line, column and value.
    """
    start = file.read(PEEKED)
    file.seek(0)
    if start.removeprefix(_BOM).lstrip().startswith(b"{"):
        return read_ubi(file, events_file, actions=actions, limit=limit)
    if events_file is not None:
        raise BadFile(
            "A file of events belongs to a file of ubi_queries. In CSV, the clicks are columns of the log itself."
        )
    return read_csv(file, limit=limit)
