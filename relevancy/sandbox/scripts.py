"""Checks and runs scripts: `check` compiles one, `score` runs one over many queries, `map_response` runs one over a response.

If a script is stopped, one query is to blame. It gets an error, and the others are scored in a new child.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from relevancy import events

from .errors import ChildEnded, ChildError, ChildTooBig, ChildTooSlow, ScriptError
from .messages import decode_mapped, decode_outcomes, describe_stop, encode_query
from .pool import POOL, Lease
from .process import Child
from .types import Limits, MappedResponse, Outcome, ScriptQuery

MAX_SCRIPT_CHARACTERS = 100_000
MAX_FRAME_QUERIES, MAX_FRAME_BYTES = 500, 2_000_000
SLICE_SECONDS = 0.25  # of work between two answers of the child
CAUTIOUS_SLICE_SECONDS = 0.05  # the same after something was stopped, because finding the next culprit costs a slice
COMPILE_SECONDS = 8.0  # generous, for a busy machine
CHECK_SECONDS = 20.0
GRACE_SECONDS = 2.0  # how late an answer can be beyond V8's own limit before the child is killed
MAX_COMPILE_ATTEMPTS = 4  # before the script is blamed if the child ends while compiling
MAX_TIMED_OUT_ATTEMPTS = 2  # the same if the child is too slow or too big
MAX_UNEXPLAINED_EXITS = 1  # per batch, for which no query is blamed: something else may have ended the child
SWITCHED_OFF = "Not scored: the script was stopped for too many queries, so it was switched off for the others"
_COMPILE_ERROR = "The script could not be compiled within the limits of time and memory."


def check(script: str) -> None:
    """Compiles a script without running it.

    Raises `ScriptError` with line and column, and `SandboxError` if no child process is available.
    """
    text = _prepare(script)
    deadline = time.monotonic() + Limits().seconds_per_batch
    with POOL.lease(deadline) as lease:
        child = lease.child()
        try:
            child.send(b"C", json.dumps(text).encode(), deadline)
            kind, body = child.receive(min(deadline, time.monotonic() + CHECK_SECONDS))
        except ChildError as error:
            lease.drop()
            raise ScriptError(_COMPILE_ERROR) from error
    if kind == b"X":
        raise ScriptError(*json.loads(body))


def score(
    script: str,
    queries: Sequence[ScriptQuery],
    *,
    scale: Sequence[float],
    depth: int,
    output_range: str = "100",
    limits: Limits | None = None,
    console: bool = False,
) -> list[Outcome]:
    """Returns one outcome per query, in order.

    `scale`: the grades that the script was written for, ascending. `depth`: the number of results displayed, which is
    `k` and the default of every count in a script. `output_range`: "100" or "1", the highest score that the script
    sets. `console`: keep the console output. After `limits.stops` queries for which the script was stopped, it is not run for
    the others.

    Raises `ScriptError` for a script that does not compile, `SandboxError` if no child process is available, and
    ValueError for an invalid `output_range` or an empty scale.
    """
    if output_range not in {"100", "1"}:
        raise ValueError(f"output_range must be '100' (scores from 0 to 100) or '1' (0 to 1), not {output_range!r}.")
    if not scale:
        raise ValueError("A script needs a scale of at least one grade.")
    limits = limits or Limits()
    settings = {
        "scale": [float(grade) for grade in scale],
        "depth": int(depth),
        "factor": 1 if output_range == "100" else 100,
    }
    opening = _opening(script, settings, limits, console=console)
    if not queries:
        check(script)
        return []
    if limits.stops <= 0:
        return [Outcome(error=SWITCHED_OFF, stopped="off")] * len(queries)
    deadline = time.monotonic() + limits.seconds_per_batch
    with POOL.lease(deadline) as lease:
        return _Batch(opening, queries, limits, deadline, _SCORES).run(lease)


def map_response(script: str, response: str, *, limits: Limits | None = None, console: bool = False) -> MappedResponse:
    """Runs a mapper script over the text of a response: its functions `docsMapper` and, if it has it, `numberOfResultsMapper`.

    They get the response as an object if it is JSON, else as text. The script stays compiled in the child for the next response, so
    that a run needs one child process. `limits.seconds_per_query`: for the response.

    Raises `ScriptError` for a script that does not compile, and `SandboxError` if no child process is available.
    """
    limits = limits or Limits()
    opening = _opening(script, {"isMapper": True}, limits, console=console)
    deadline = time.monotonic() + limits.seconds_per_batch
    with POOL.lease(deadline) as lease:
        return _Batch(opening, [response], limits, deadline, _MAPPED, keeps_script=True).run(lease)[0]


def _opening(script: str, settings: dict[str, Any], limits: Limits, *, console: bool) -> bytes:
    """Returns what the child compiles. Raises `ScriptError` as `_prepare` does."""
    console_characters = limits.console_characters if console else 0
    settings |= {"console": console_characters, "seconds": limits.seconds_per_query}
    return json.dumps({"script": _prepare(script), "settings": settings, "megabytes": limits.megabytes}).encode()


def _prepare(script: str) -> str:
    """Returns the script without lone surrogates. Raises `ScriptError` if it is empty or too long."""
    if not script.strip():
        raise ScriptError("The script is empty. Write one that calls setScore(…).")
    if len(script) > MAX_SCRIPT_CHARACTERS:
        raise ScriptError(f"The script has {len(script):,} characters. It can have at most {MAX_SCRIPT_CHARACTERS:,}.")
    return script.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class _Codec[Input, Result](NamedTuple):
    """How inputs of a script are sent, as JSON in ASCII, so that lone surrogates survive, and its results are received."""

    encode: Callable[[Input], str]
    decode: Callable[[bytes, Limits], list[Result]]
    result: Callable[..., Result]


_SCORES = _Codec(encode_query, decode_outcomes, Outcome)
_MAPPED = _Codec(json.dumps, decode_mapped, MappedResponse)


class _Batch[Input, Result: (Outcome, MappedResponse)]:
    """One call of `score` or `map_response`. keeps_script: the script stays compiled in the child.

    Attributes:
        outcomes: of the queries that are done.
        isolated_until: the queries before this index are sent one by one, because one of them was stopped.
        unexplained_exits: how often the child ended by itself.
        stops: how often something was stopped.
        compile_attempts: how often compiling failed in a row.
        is_open: whether the script is compiled in the child.
    """

    def __init__(
        self,
        opening: bytes,
        queries: Sequence[Input],
        limits: Limits,
        deadline: float,
        codec: _Codec[Input, Result],
        *,
        keeps_script: bool = False,
    ) -> None:
        self.opening, self.queries, self.limits, self.deadline = opening, queries, limits, deadline
        self.codec: _Codec[Input, Result] = codec
        self.keeps_script = keeps_script
        self.outcomes: list[Result] = []
        self.isolated_until = 0
        self.unexplained_exits = self.stops = self.compile_attempts = 0
        self.is_open = False

    def run(self, lease: Lease) -> list[Result]:
        while len(self.outcomes) < len(self.queries) and time.monotonic() < self.deadline and not self._is_off:
            child = self._open_child(lease)
            if child is None:
                continue
            count, body = self._next_frame()
            end = len(self.outcomes) + count
            try:
                self._run_frame(child, count, body)
            except ChildError as error:
                reason = {ChildTooSlow: "time", ChildTooBig: "memory"}.get(type(error), "ended")
                self._handle_stop(lease, reason, end, is_culprit_known=count == 1)
            except _Stopped as stopped:
                self._handle_stop(lease, stopped.reason, end, is_culprit_known=stopped.is_culprit_known or count == 1)
        seconds = f"{self.limits.seconds_per_batch:g} s"
        rest = self.codec.result(
            error=f"Not scored: the script used up the {seconds} that all queries share", stopped="time"
        )
        if self._is_off:
            rest = self.codec.result(error=SWITCHED_OFF, stopped="off")
        return self.outcomes + [rest] * (len(self.queries) - len(self.outcomes))

    @property
    def _is_off(self) -> bool:
        """Whether the script has been stopped for so many queries that it is not run for the others."""
        return sum(bool(outcome.stopped) for outcome in self.outcomes) >= self.limits.stops

    def _open_child(self, lease: Lease) -> Child | None:
        """Returns a child in which the script is compiled; None if that has to be tried again."""
        child = lease.child()
        try:
            if child.opening and child.opening == self.opening:
                child.max_megabytes = self.limits.resident_megabytes
                self.is_open = True
            if not self.is_open:
                self._compile(child)
        except ChildError as error:
            lease.drop()
            self.compile_attempts += 1
            limit = MAX_COMPILE_ATTEMPTS if isinstance(error, ChildEnded) else MAX_TIMED_OUT_ATTEMPTS
            if self.compile_attempts >= limit:
                raise ScriptError(_COMPILE_ERROR) from error
            return None
        return child

    def _compile(self, child: Child) -> None:
        child.max_megabytes = self.limits.resident_megabytes
        deadline = time.monotonic() + COMPILE_SECONDS
        if child.opening:
            child.opening = b""
            child.send(b"E", b"", deadline)
        child.send(b"O", self.opening, deadline)
        kind, body = child.receive(deadline)
        if kind == b"X":
            raise ScriptError(*(json.loads(body) or ["The script does not compile.", None, None]))
        if kind != b"K":
            raise ChildEnded
        self.is_open, self.compile_attempts = True, 0
        child.opening = self.opening if self.keeps_script else b""

    def _next_frame(self) -> tuple[int, bytes]:
        """Returns the number of queries that are sent next, and their JSON."""
        start, encoded, size = len(self.outcomes), [], 0
        limit = 1 if start < self.isolated_until else MAX_FRAME_QUERIES
        for query in self.queries[start : start + limit]:
            encoded.append(self.codec.encode(query))
            size += len(encoded[-1])
            if size > MAX_FRAME_BYTES:
                break
        return len(encoded), ("[" + ",".join(encoded) + "]").encode()

    def _run_frame(self, child: Child, count: int, body: bytes) -> None:
        """Sends queries and receives their outcomes."""
        seconds = min(self.limits.seconds_per_query, max(0.05, self.deadline - time.monotonic()))
        slice_seconds = min(CAUTIOUS_SLICE_SECONDS if self.stops else SLICE_SECONDS, seconds) if count > 1 else 0.0
        header = f"{count} {slice_seconds} {seconds}\n".encode()
        child.send(b"R", header + body, time.monotonic() + GRACE_SECONDS + seconds)
        while count > 0:
            now = time.monotonic()
            slice_end, batch_end = now + slice_seconds + 2 * seconds, max(self.deadline, now + seconds)
            kind, rows = child.receive(min(slice_end, batch_end) + GRACE_SECONDS)
            if kind == b"U":
                raise _Stopped(rows.decode(), is_culprit_known=False)
            reason = ""
            if kind == b"S":
                first_line, rows = rows.split(b"\n", 1)
                reason = first_line.decode()
            count -= self._add_outcomes(rows, count)
            if reason:
                raise _Stopped(reason, is_culprit_known=True)
            if self._is_off and count > 0:
                raise _Stopped("time", is_culprit_known=False)
            if kind == b"T":  # the child has created a new context, in which the script must be compiled again
                self.is_open, child.opening = False, b""
                self.isolated_until = max(self.isolated_until, len(self.outcomes) + count)
                return
            if time.monotonic() > self.deadline and count > 0:
                raise _Stopped("time", is_culprit_known=False)

    def _add_outcomes(self, rows: bytes, limit: int) -> int:
        outcomes = self.codec.decode(rows, self.limits)
        if len(outcomes) > limit:
            raise ChildEnded
        self.outcomes += outcomes
        return len(outcomes)

    def _handle_stop(self, lease: Lease, reason: str, end: int, *, is_culprit_known: bool) -> None:
        """Drops the child. Adds an error for the next query if it is to blame, else isolates the queries up to `end`."""
        lease.drop()
        events.record("sandbox_stop", reason=reason)
        self.is_open = False
        self.stops += 1
        if time.monotonic() >= self.deadline:
            return
        if reason == "ended" and self.unexplained_exits < MAX_UNEXPLAINED_EXITS:
            self.unexplained_exits += 1
            is_culprit_known = False
        if is_culprit_known:
            self.outcomes.append(self.codec.result(error=describe_stop(reason, self.limits), stopped=reason))
        else:
            self.isolated_until = max(self.isolated_until, end)


class _Stopped(Exception):
    """The child stopped a script. `is_culprit_known`: while running the first query without an outcome."""

    def __init__(self, reason: str, *, is_culprit_known: bool) -> None:
        super().__init__(reason)
        self.reason, self.is_culprit_known = reason, is_culprit_known
