"""Search logs in the formats that can be read."""

from collections.abc import Callable, Collection
from datetime import timedelta
from typing import IO

from django.db.models import QuerySet
from django.utils import timezone

from relevancy import endpoints, engines
from relevancy.formats.errors import BadFile
from relevancy.models import Endpoint, User
from relevancy.slow_requests import Busy

from .search_log import MAX_BYTES, SearchLog, read_csv
from .ubi import CLICK, MAX_RECORDS, MAX_RECORDS_ON_PAGE, read_ubi, read_ubi_index

PEEKED = 1_000
MAX_DAYS = 3_650
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


def readable_endpoints(user: User) -> QuerySet[Endpoint]:
    """Returns the endpoints whose records of User Behavior Insights a user may read: those that the user may change."""
    able = [engine.key for engine in engines.available() if engine.abilities.behaviour]
    return Endpoint.objects.editable_by(user).filter(archived_at=None, engine__in=able)


def read_endpoint(
    endpoint: Endpoint,
    *,
    days: int | None = None,
    with_events: bool = True,
    actions: Collection[str] = (CLICK,),
    for_page: bool = False,
    progress: Callable[[str, int], None] = lambda kind, count: None,
) -> SearchLog:
    """Reads `ubi_queries` and `ubi_events` of the server of an endpoint, under its address rules, credentials and limits.

    days: leaves out earlier records; None for all. for_page: with the limits of a page. progress: see `read_ubi_index`.
    Raises `BadFile`, also if the server does not answer. Close the log after use.
    """
    since = None if days is None else timezone.now() - timedelta(days=days)
    try:
        with endpoints.connect_for_page(endpoint) if for_page else endpoints.connect(endpoint) as engine:
            return read_ubi_index(
                engine,
                with_events=with_events,
                actions=actions,
                since=since,
                limit=MAX_RECORDS_ON_PAGE if for_page else MAX_RECORDS,
                progress=progress,
            )
    except (engines.EngineError, Busy) as error:
        raise BadFile(f"{endpoint} could not be read. {error}") from error
