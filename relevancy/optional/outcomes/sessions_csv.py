"""Outcomes of interleaving and A/B tests as CSV, counted by session."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from itertools import batched
from typing import IO, Any

from relevancy.formats.cells import check_width, find_columns, parse_count, read_lines, read_table
from relevancy.formats.errors import BadFile, quote
from relevancy.wording import counted

from .models import OnlineOutcome

MAX_BYTES = 2 * 1024**3
MAX_ON_PAGE = 50 * 1024 * 1024  # less than `MAX_REQUEST_SIZE`; a web thread is busy as long as it is read
MAX_SESSION = 500  # characters of its name
BATCH = 2_000
_WINNERS = {"a": (1, 0), "b": (0, 1), "tie": (0, 0)}
_NAMES = {
    "session": ("session", "session_id"),
    "count": ("count", "sessions"),
    "winner": ("winner",),
    "clicks_a": ("clicks_a",),
    "clicks_b": ("clicks_b",),
    "side": ("side",),
    "success": ("success",),
}
_KINDS = (("winner",), ("clicks_a", "clicks_b"), ("side", "success"))
_EXPECTED = "winner; clicks_a and clicks_b; or side and success"

type Row = tuple[str, int, int, int]  # session, two numbers of its kind, and for how many sessions it stands


def read_outcome(file: IO[bytes], *, limit: int = MAX_BYTES, **fields: Any) -> OnlineOutcome:
    """Reads CSV with a header, in one of three forms, and counts sessions. Returns an outcome that is not stored.

    `session,winner`: a, b or tie. `session,clicks_a,clicks_b`: clicks on the results of each run on one page of interleaved results;
    the page goes to the run with more. `session,side,success`: an A/B test; a session was successful if one of its rows is. A session
    of several rows goes to the run that won more of them, and counts once. Instead of `session`, a column `count` says for how many
    sessions a row stands. Other columns are left out, and so are sessions that were shown both sides of an A/B test.
    limit: of bytes. fields: the other ones of the outcome. Raises `BadFile` with line, column and value.
    """
    rows = read_table(read_lines(file, limit=limit))
    _, header = next(rows, (1, []))
    columns, kind = _columns(header)
    with closing(sqlite3.connect("", isolation_level=None)) as database:  # private, deleted when closed
        database.execute("CREATE TABLE page (session TEXT, x INTEGER, y INTEGER, count INTEGER)")
        database.execute("BEGIN")
        checked = (_check(cells, line, columns, len(header), kind) for line, cells in rows)
        for batch in batched(checked, BATCH):
            database.executemany("INSERT INTO page VALUES (?, ?, ?, ?)", batch)
        counts = _count_ab(database) if kind == _KINDS[2] else _count_interleaving(database, kind == _KINDS[1])
        outcome = OnlineOutcome(**counts, **fields)
    others = [name for number, name in enumerate(header) if number not in columns.values()]
    if others:
        outcome.remarks.append(f"Columns left out: {', '.join(name[:40] for name in others[:10])}.")
    if not outcome.wins_a + outcome.wins_b + outcome.ties + outcome.sessions_a + outcome.sessions_b:
        raise BadFile("The file has no sessions.")
    return outcome


def _columns(header: Sequence[str]) -> tuple[dict[str, int], tuple[str, ...]]:
    columns = find_columns(header, _NAMES)
    kinds = [kind for kind in _KINDS if all(column in columns for column in kind)]
    if len(kinds) != 1 or ("session" in columns) == ("count" in columns):
        raise BadFile(
            f"the header is {quote(','.join(header))}; it must have either session or count, and one of: {_EXPECTED}.",
            line=1,
        )
    used = {"session", "count", *kinds[0]}
    return {name: number for name, number in columns.items() if name in used}, kinds[0]


def _check(cells: list[str], line: int, columns: dict[str, int], width: int, kind: tuple[str, ...]) -> Row:
    """Returns a row: its session, empty if it stands for `count` of them; and two numbers of its kind."""
    check_width(cells, width, line)
    values = {name: cells[number] for name, number in columns.items()}
    session, count = "", 1
    if "count" in values:
        count = parse_count(values["count"], "count", line)
    else:
        session = values["session"]
        if not session or len(session) > MAX_SESSION:
            problem = f"has more than {MAX_SESSION} characters" if session else "is empty"
            raise BadFile(f"column session: {quote(session)} {problem}.", line=line)
    first, second = _read_kind(values, kind, line)
    return session, first, second, count


def _read_kind(values: dict[str, str], kind: tuple[str, ...], line: int) -> tuple[int, int]:
    """Returns votes for A and B, their clicks, or the side (0 for A, 1 for B) and whether it was successful."""
    if kind == _KINDS[0]:
        winner = values["winner"].lower()
        if winner not in _WINNERS:
            raise BadFile(f"column winner: {quote(values['winner'])} is not a, b or tie.", line=line)
        return _WINNERS[winner]
    if kind == _KINDS[1]:
        return parse_count(values["clicks_a"], "clicks_a", line), parse_count(values["clicks_b"], "clicks_b", line)
    side = values["side"].lower()
    if side not in {"a", "b"}:
        raise BadFile(f"column side: {quote(values['side'])} is not a or b.", line=line)
    if values["success"] not in {"0", "1"}:
        raise BadFile(f"column success: {quote(values['success'])} is not 0 or 1.", line=line)
    return int(side == "b"), int(values["success"])


# Rows of one session are one; a row that stands for several sessions stays alone.
_BY_SESSION = "GROUP BY session, CASE session WHEN '' THEN rowid END"


def _count_interleaving(database: sqlite3.Connection, has_clicks: bool) -> dict[str, Any]:
    statement = (
        "SELECT COALESCE(SUM(count) FILTER (WHERE votes < 0), 0), COALESCE(SUM(count) FILTER (WHERE votes > 0), 0), "
        "COALESCE(SUM(count) FILTER (WHERE votes = 0), 0), COALESCE(SUM(count) FILTER (WHERE clicks = 0), 0) FROM "
        "(SELECT SUM((y > x) - (y < x)) AS votes, SUM(x + y) AS clicks, MAX(count) AS count FROM page "
        + _BY_SESSION
        + ")"
    )
    wins_a, wins_b, ties, silent = database.execute(statement).fetchone()
    remarks = []
    if has_clicks and silent:
        remarks.append(f"Sessions without a click: {silent:,}. They are ties.")
    method = OnlineOutcome.Method.INTERLEAVING
    return {"method": method, "wins_a": wins_a, "wins_b": wins_b, "ties": ties, "remarks": remarks}


def _count_ab(database: sqlite3.Connection) -> dict[str, Any]:
    by_session = "SELECT MIN(x) AS low, MAX(x) AS side, MAX(y) AS success, MAX(count) AS count FROM page " + _BY_SESSION
    statement = (
        "SELECT COALESCE(SUM(count) FILTER (WHERE side = ? AND low = side), 0), "
        "COALESCE(SUM(count) FILTER (WHERE side = ? AND low = side AND success), 0) FROM (" + by_session + ")"
    )
    (sessions_a, wins_a), (sessions_b, wins_b) = (
        database.execute(statement, (side, side)).fetchone() for side in (0, 1)
    )
    (both,) = database.execute(
        f"SELECT COALESCE(SUM(count) FILTER (WHERE low < side), 0) FROM ({by_session})"
    ).fetchone()
    remarks = [f"Left out: {counted(both, 'session')} with both sides."] if both else []
    return {
        "method": OnlineOutcome.Method.AB,
        "wins_a": wins_a,
        "wins_b": wins_b,
        "sessions_a": sessions_a,
        "sessions_b": sessions_b,
        "remarks": remarks,
    }
