"""A script over many queries: what is sent when, whose fault a time-out is, what the others get."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

from .errors import ChildEnded, ChildTooBig, ChildTooSlow, ScriptError
from .pool import POOL, Lease
from .process import Child
from .scored import Limits, Outcome, Scored

LONGEST_SCRIPT = 100_000
MOST_QUERIES, MOST_BYTES = 500, 2_000_000  # of one frame
SLICE_SECONDS = 0.25  # of work between two answers of the child
WARY_SECONDS = 0.05  # the same in a batch in which something was stopped: what it costs to find the next one
OPEN_SECONDS = 8.0  # to compile, on a busy machine
GRACE = 2.0  # seconds the child may be late beyond V8's own limit before it is killed
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
OPENINGS = 4  # before a script is held to be what ends the child that compiles it
FREE_DEATHS = 1  # deaths in a batch that are not held against a query: something else may have ended the child


def check(script: str) -> None:
    """Compiles a script without running it. `ScriptError` with line and column; `SandboxError` where nothing runs."""
    text = _readable(script)
    deadline = time.monotonic() + Limits().seconds_per_batch
    with POOL.lease(deadline) as lease:
        child = lease.child()
        try:
            child.send(b"C", json.dumps(text).encode(), deadline)
            kind, body = child.receive(min(deadline, time.monotonic() + 20))
        except (ChildEnded, ChildTooBig, ChildTooSlow) as error:
            lease.drop()
            raise ScriptError("The script could not be compiled within the limits of time and memory.") from error
    if kind == b"X":
        raise ScriptError(*json.loads(body))


def score(
    script: str,
    queries: Sequence[Scored],
    *,
    scale: Sequence[float],
    shown: int,
    gives: str = "100",
    limits: Limits | None = None,
    console: bool = False,
) -> list[Outcome]:
    """One outcome per query, in order.

    `scale`: the grades the script was written for, ascending. `shown`: how many results are shown, which is `k` and the
    count where a script leaves counts out. `gives`: "100" or "1", the top of what the script gives to setScore.
    `ScriptError` for a script that does not compile, `SandboxError` where no child can be had, ValueError for `gives`.
    """
    if gives not in {"100", "1"}:
        raise ValueError(f"A script gives 0–100 or 0–1: gives must be '100' or '1', not {gives!r}.")
    if not scale:
        raise ValueError("A script needs a scale of at least one grade.")
    limits = limits or Limits()
    text = _readable(script)
    settings = {
        "scale": [float(grade) for grade in scale],
        "shown": int(shown),
        "factor": 1 if gives == "100" else 100,
        "console": limits.console_characters if console else 0,
        "seconds": limits.seconds_per_query,
    }
    opening = json.dumps({"script": text, "settings": settings, "megabytes": limits.megabytes}).encode()
    if not queries:
        check(script)
        return []
    deadline = time.monotonic() + limits.seconds_per_batch
    with POOL.lease(deadline) as lease:
        return _Batch(opening, queries, limits, deadline).run(lease)


def _readable(script: str) -> str:
    if not script.strip():
        raise ScriptError("The script is empty. Write one that calls setScore(…).")
    if len(script) > LONGEST_SCRIPT:
        raise ScriptError(f"The script has {len(script):,} characters; the most is {LONGEST_SCRIPT:,}.")
    return script.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class _Batch:
    """One call of `score`. `alone`: up to this query each is sent by itself, since one of them does harm."""

    def __init__(self, opening: bytes, queries: Sequence[Scored], limits: Limits, deadline: float) -> None:
        self.opening, self.queries, self.limits, self.deadline = opening, queries, limits, deadline
        self.done: list[Outcome] = []
        self.alone = 0
        self.deaths = self.stops = self.openings = 0
        self.is_open = False

    def run(self, lease: Lease) -> list[Outcome]:
        while len(self.done) < len(self.queries) and time.monotonic() < self.deadline:
            child = self._child(lease)
            if child is None:
                continue
            size, body = self._frame()
            expected = len(self.done) + size
            try:
                self._ask(child, size, body)
            except (ChildTooSlow, ChildTooBig, ChildEnded) as error:
                why = {ChildTooSlow: "time", ChildTooBig: "memory"}.get(type(error), "ended")
                self._stopped(lease, why, expected, alone=size == 1)
            except _Stopped as stopped:
                self._stopped(lease, stopped.why, expected, alone=stopped.known or size == 1)
        rest = len(self.queries) - len(self.done)
        used_up = (
            f"Not scored: the script used up the {self.limits.seconds_per_batch:g} s that all queries have together"
        )
        return self.done + [Outcome(None, used_up)] * rest

    def _child(self, lease: Lease) -> Child | None:
        """A child in which the script is compiled; None: not this time."""
        child = lease.child()
        try:
            if not self.is_open:
                self._open(child)
        except (ChildTooSlow, ChildTooBig, ChildEnded) as error:
            lease.drop()
            self.openings += 1
            if self.openings >= (OPENINGS if isinstance(error, ChildEnded) else 2):
                raise ScriptError("The script could not be compiled within the limits of time and memory.") from error
            return None
        return child

    def _open(self, child: Child) -> None:
        child.most_megabytes = self.limits.resident_megabytes
        until = time.monotonic() + OPEN_SECONDS
        child.send(b"O", self.opening, until)
        kind, body = child.receive(until)
        if kind == b"X":
            raise ScriptError(*(json.loads(body) or ["The script does not compile.", None, None]))
        if kind != b"K":
            raise ChildEnded
        self.is_open, self.openings = True, 0

    def _frame(self) -> tuple[int, bytes]:
        """How many queries go next, and their JSON."""
        at, parts, size = len(self.done), [], 0
        most = 1 if at < self.alone else MOST_QUERIES
        for query in self.queries[at : at + most]:
            parts.append(_written(query))
            size += len(parts[-1])
            if size > MOST_BYTES:
                break
        return len(parts), ("[" + ",".join(parts) + "]").encode()

    def _ask(self, child: Child, size: int, body: bytes) -> None:
        """Sends queries and takes their outcomes in as they come."""
        each = min(self.limits.seconds_per_query, max(0.05, self.deadline - time.monotonic()))
        work = 0.0 if size == 1 else min(WARY_SECONDS if self.stops else SLICE_SECONDS, each)
        child.send(b"R", f"{size} {work} {each}\n".encode() + body, time.monotonic() + GRACE + each)
        while size > 0:
            now = time.monotonic()
            kind, rows = child.receive(min(now + work + 2 * each + GRACE, max(self.deadline, now + each) + GRACE))
            if kind == b"U":
                raise _Stopped(rows.decode(), known=False)
            why = ""
            if kind == b"S":
                first, rows = rows.split(b"\n", 1)
                why = first.decode()
            size -= self._take(rows, size)
            if why:
                raise _Stopped(why, known=True)
            if kind == b"T":  # the child has made a new context, where the script must be opened again
                self.is_open = False
                self.alone = max(self.alone, len(self.done) + size)
                return
            if time.monotonic() > self.deadline and size > 0:
                raise _Stopped("time", known=False)

    def _take(self, rows: bytes, most: int) -> int:
        """Outcomes as the child tells them: checked, since nothing that ran a script is trusted."""
        try:
            found = [_outcome(row, self.limits) for row in json.loads(rows)]
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            raise ChildEnded from error
        if len(found) > most:
            raise ChildEnded
        self.done += found
        return len(found)

    def _stopped(self, lease: Lease, why: str, expected: int, *, alone: bool) -> None:
        """After something was stopped: a new child, and an error for the guilty query where it is known."""
        lease.drop()
        self.is_open = False
        self.stops += 1
        if time.monotonic() >= self.deadline:
            return
        if why == "ended" and self.deaths < FREE_DEATHS:
            self.deaths += 1
            alone = False
        if alone:
            self.done.append(Outcome(None, _said(why, self.limits)))
        else:
            self.alone = max(self.alone, expected)


class _Stopped(Exception):
    """The child stopped a script. `known`: it was in the first query that has no outcome yet."""

    def __init__(self, why: str, *, known: bool) -> None:
        super().__init__(why)
        self.why, self.known = why, known


def _said(why: str, limits: Limits) -> str:
    if why == "time":
        return f"The script ran longer than {limits.seconds_per_query:g} s for this query and was stopped"
    if why == "memory":
        return f"The script wanted more than {limits.megabytes} MB of memory for this query and was stopped"
    return "The script ended the process it ran in, perhaps by wanting too much memory"


def _outcome(row: list[Any], limits: Limits) -> Outcome:
    value, error, line, console, seconds = row
    if error == "late":
        error = _said("time", limits)
    if value is not None and not (isinstance(value, int | float) and 0 <= value <= 100):
        raise ValueError(value)
    score = None if value is None or error else float(value)
    return Outcome(score, _plain(error), int(line) if line else None, tuple(map(_plain, console)), float(seconds))


def _plain(text: object) -> str:
    """A text that every page, terminal and database takes: no halves of characters, no control characters."""
    whole = str(text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", whole)


def _written(query: Scored) -> str:
    """A query as api.js reads it. ASCII only, so that lone surrogates survive."""
    known = query.known if isinstance(query.known, Mapping) else dict(query.known)
    plain = {
        "t": query.text,
        "d": query.docs,
        "r": query.ratings,
        "b": known,
        "n": query.total,
        "o": query.options,
    }
    try:
        return json.dumps(plain, allow_nan=False, separators=(",", ":"), default=_other)
    except ValueError:
        return json.dumps(_finite(json.loads(json.dumps(plain, default=_other))), separators=(",", ":"))


def _other(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, Sequence) else str(value)


def _finite(value: object) -> object:
    """JSON has no NaN: null stands for it."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list) else value
