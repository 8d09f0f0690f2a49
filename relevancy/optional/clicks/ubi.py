"""Search logs of User Behavior Insights (UBI): records of `ubi_queries` and `ubi_events`, one JSON object to a line.

A record may stand in `_source`, as an index returns it, and lines of a bulk request that only name an action are skipped. Of a query,
`query_id`, `user_query` and the ids of its results are read; of an event, `query_id`, `action_name` and the id of the object. The
position of a click is that of the object among the results, because the positions that events name begin with 0 or 1.
"""

import json
from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from itertools import batched
from typing import IO, Any, Literal

from relevancy import engines
from relevancy.formats.cells import read_lines
from relevancy.formats.errors import BadFile, quote
from relevancy.wording import counted

from .search_log import (
    BATCH,
    MAX_BYTES,
    MAX_POSITION,
    SearchLog,
    ShownDocument,
    check_doc_id,
    check_query,
)

type Record = tuple[int, dict[str, Any]]  # its number, from 1

CLICK = "click"
MAX_RECORDS = 10_000_000
MAX_RECORDS_ON_PAGE = 200_000  # a web thread is busy as long as they are read
REPORTED = 100_000  # records between two calls of `progress`
MAX_LENGTH = 1_000  # of ids
_RESULTS = ("query_response_hit_ids", "query_response_object_ids", "query_response_objects_ids")
_BULK = {"index", "create"}


def read_ubi(
    queries_file: IO[bytes],
    events_file: IO[bytes] | None = None,
    *,
    actions: Collection[str] = (CLICK,),
    limit: int = MAX_BYTES,
) -> SearchLog:
    """Reads a log. Records of the same `query_id` are one search; several clicks on a document in one search count once.

    actions: names of events that are clicks. limit: of bytes in each file.
    Raises `BadFile` with line, column and value. Close the log after use.
    """
    queries = _records(queries_file, limit)
    events = None if events_file is None else _records(events_file, limit)
    return _read(queries, events, actions, source="file of ")


def read_ubi_index(
    engine: engines.Engine,
    *,
    with_events: bool = True,
    actions: Collection[str] = (CLICK,),
    since: datetime | None = None,
    limit: int = MAX_RECORDS,
    progress: Callable[[str, int], None] = lambda kind, count: None,
) -> SearchLog:
    """Reads the indexes `ubi_queries` and `ubi_events` next to the index of an engine. Close the log after use.

    since: leaves out earlier records. limit: of records in each index. progress: called with the name of an index and how many
    records were read, every 100,000. Raises `BadFile` with the number of the record, and `EngineError`.
    """

    def records(kind: Literal["queries", "events"]) -> Iterator[Record]:
        for number, record in enumerate(engine.behaviour_records(kind, since=since), 1):
            if number > limit:
                raise BadFile(
                    f"ubi_{kind} has more than {limit:,} records. Read those of a shorter time, or use the command."
                )
            yield number, dict(record)
            if number % REPORTED == 0:
                progress(f"ubi_{kind}", number)

    return _read(
        records("queries"), records("events") if with_events else None, actions, source="index ubi_", line="Record"
    )


def _read(
    queries: Iterator[Record], events: Iterator[Record] | None, actions: Collection[str], *, source: str, line: str = ""
) -> SearchLog:
    """Reads records. source: what messages call them; line: how they call a record instead of a line."""
    log = SearchLog()
    try:
        log.database.execute("CREATE TABLE search (id TEXT PRIMARY KEY, query TEXT, results TEXT) WITHOUT ROWID")
        log.database.execute(
            "CREATE TABLE click (search TEXT, doc_id TEXT, PRIMARY KEY (search, doc_id)) WITHOUT ROWID"
        )
        searches = _searches(log, queries)
        for batch in batched(searches, BATCH):
            log.database.executemany("INSERT OR IGNORE INTO search VALUES (?, ?, ?)", batch)
        counted = log.database.execute("SELECT query, COUNT(*) FROM search GROUP BY query")
        log.add_searches(counted.fetchall())
        if events is not None:
            _read_events(log, events, actions, source)
            _add_clicks(log)
    except BadFile as error:
        log.close()
        raise (BadFile(str(error).replace("Line", line, 1)) if line and error.line else error) from None
    except BaseException:
        log.close()
        raise
    return log


def _searches(log: SearchLog, records: Iterator[Record]) -> Iterator[tuple[str, str, str]]:
    """Yields the id, the query and the results, as JSON, of each search."""
    for line, record in records:
        search_id = _text(record, "query_id", line)
        text = record.get("user_query")
        if text is not None and not isinstance(text, str):
            raise BadFile(f"user_query: {quote(text)} is not a string.", line=line)
        query, problem = check_query(text or "")
        if problem:
            log.left_out.add(line, problem, 1)
            continue
        yield search_id, query, json.dumps(_results(record, line), ensure_ascii=False)


def _results(record: dict[str, Any], line: int) -> list[str]:
    for name in _RESULTS:
        results = record.get(name)
        if results is None:
            continue
        if not isinstance(results, list) or any(
            isinstance(doc_id, bool) or not isinstance(doc_id, str | int) for doc_id in results
        ):
            raise BadFile(f"{name}: {quote(results)} is not a list of ids.", line=line)
        return [check_doc_id(str(doc_id), name, line) for doc_id in results[:MAX_POSITION]]
    return []


def _read_events(log: SearchLog, records: Iterator[Record], actions: Collection[str], source: str) -> None:
    names: set[str] = set()
    clicks = 0
    for batch in batched(_clicks(records, actions, names), BATCH):
        clicks += len(batch)
        log.database.executemany("INSERT OR IGNORE INTO click VALUES (?, ?)", batch)
    if not clicks:
        wanted, present = " or ".join(map(repr, actions)), ", ".join(sorted(names)[:10]) or "none"
        raise BadFile(f"The {source}events has no {wanted}. Its actions are {present}.")
    unknown = "SELECT COUNT(*) FROM click WHERE search NOT IN (SELECT id FROM search)"
    (count,) = log.database.execute(unknown).fetchone()
    if count:
        log.remarks.append(f"{counted(count, 'click belongs', 'clicks belong')} to no search of the {source}queries.")


def _clicks(records: Iterator[Record], actions: Collection[str], names: set[str]) -> Iterator[tuple[str, str]]:
    """Yields the id of the search and of the document of each click. Collects the names of actions."""
    for line, record in records:
        action = _text(record, "action_name", line)
        if len(names) < BATCH:
            names.add(action)
        if action not in actions:
            continue
        attributes = record.get("event_attributes")
        clicked = attributes.get("object") if isinstance(attributes, dict) else None
        object_id = clicked.get("object_id") if isinstance(clicked, dict) else None
        if isinstance(object_id, bool) or not isinstance(object_id, str | int):
            raise BadFile(f"event_attributes.object.object_id: {quote(object_id)} is not an id.", line=line)
        yield _text(record, "query_id", line), check_doc_id(str(object_id), "object_id", line)


def _add_clicks(log: SearchLog) -> None:
    """Adds what was shown, seen and clicked in each search that names its results."""
    rows = log.database.execute(
        "SELECT query, results, (SELECT json_group_array(doc_id) FROM click WHERE search = search.id) FROM search ORDER BY query"
    )
    without = elsewhere = 0
    for batch in batched(rows, BATCH):
        shown: list[ShownDocument] = []
        for query, results_json, clicked_json in batch:
            results, clicked = list(dict.fromkeys(json.loads(results_json))), set(json.loads(clicked_json))
            without += not results
            elsewhere += len(clicked.difference(results)) if results else 0
            positions = [position for position, doc_id in enumerate(results, 1) if doc_id in clicked]
            last = positions[-1] if positions else None
            for position, doc_id in enumerate(results, 1):
                is_examined = last is None or position <= last
                is_clicked, is_last = doc_id in clicked, position == last
                shown.append(ShownDocument(query, doc_id, position, 1, is_clicked, is_examined, is_last))
        log.add_shown(shown)
    if without:
        log.remarks.append(f"{without:,} searches do not name their results; their clicks are left out.")
    if elsewhere:
        log.remarks.append(
            f"{counted(elsewhere, 'click is', 'clicks are')} on documents that are not among the results of their search."
        )


def _records(file: IO[bytes], limit: int) -> Iterator[Record]:
    is_empty = True
    for line, text in enumerate(read_lines(file, limit=limit), 1):
        if not text.strip():
            continue
        try:
            record = json.loads(text.rstrip())
        except json.JSONDecodeError as error:
            raise BadFile(f"column {error.colno}: this is not valid JSON: {error.msg}.", line=line) from None
        except (ValueError, RecursionError):
            raise BadFile("this JSON is nested too deeply, or has a number with too many digits.", line=line) from None
        if not isinstance(record, dict):
            raise BadFile(f"this must be an object, not {quote(record)}. Save one JSON object to a line.", line=line)
        is_empty = False
        if len(record) == 1 and _BULK & record.keys():
            continue
        source = record.get("_source", record)
        if not isinstance(source, dict):
            raise BadFile(f"_source: this must be an object, not {quote(source)}.", line=line)
        yield line, source
    if is_empty:
        raise BadFile("The file is empty: it has no JSON object.")


def _text(record: dict[str, Any], key: str, line: int) -> str:
    value = record.get(key)
    if not isinstance(value, str) or not value or len(value) > MAX_LENGTH:
        raise BadFile(f"{key}: {quote(value)} is not a string of 1 to {MAX_LENGTH:,} characters.", line=line)
    if not value.isprintable():
        raise BadFile(f"{key}: {quote(value)} contains an invalid character.", line=line)
    return value
