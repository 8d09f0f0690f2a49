"""The child process: V8 behind a pipe. Started by path with an empty environment; imports nothing of relevancy.

Frames, both ways: four bytes of length, one letter, a body. In: `O` open a script (JSON), `R` run it over queries (a
line "how many, seconds a slice, seconds a query", then JSON), `E` end of the batch, `C` check a script. Out: `K`
ready, `X` syntax error, `D` outcomes, `T` outcomes and the context is spoilt, `S` outcomes and then one query that was
stopped ("time" or "memory"), `U` something was stopped and nobody knows in which query.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

from py_mini_racer import JSEvalException, JSOOMException, JSParseException, JSTimeoutException, MiniRacer, _mini_racer

HARNESS, API, HARDEN = (
    Path(__file__).resolve().with_name(name).read_text(encoding="utf-8")
    for name in ("harness.js", "api.js", "harden.js")
)
DATA_BYTES = 800 * 1024 * 1024  # below this V8 does not start
IDLE_SECONDS = 600
HOUSEKEEPING = 5.0  # for what is ours to do: compile, read JSON
SLACK = 0.3  # seconds V8 may take to notice that its time is over
CALLER = ThreadPoolExecutor(1)
FORBIDDEN = (
    *("socket", "connect", "bind", "listen", "accept", "accept4", "execve", "execveat", "fork"),
    *("vfork", "open", "openat", "openat2", "creat", "unlink", "unlinkat", "rename", "renameat", "renameat2", "mkdir"),
    *("mkdirat", "symlink", "symlinkat", "link", "linkat", "truncate", "ftruncate", "chmod", "fchmodat", "chown"),
    *("kill", "ptrace", "process_vm_readv", "process_vm_writev", "mount", "umount2", "setsid", "chroot", "bpf"),
)
# MiniRacer's own timers would be a class by a global name that no script text can take away again.
_mini_racer.INSTALL_SET_TIMEOUT = "0"  # type: ignore[attr-defined]
_PLACE = re.compile(r"<anonymous>:(\d+): (?:SyntaxError: )?(.*)")


class Context:
    """A fresh V8 context with everything taken away, and the one function that runs scripts in it."""

    def __init__(self) -> None:
        self.racer = MiniRacer()
        start = '(make, api, harden) => { const command = make(api); harden(() => command("awaits")); return command; }'
        source = f"({start})({HARNESS}\n,{API}\n,{HARDEN}\n)"
        self.command: Any = self.racer.eval(source, timeout_sec=HOUSEKEEPING)

    def call(self, seconds: float, *words: str | float) -> Any:
        """One command of harness.js; V8 is stopped after `seconds`, `JSTimeoutException`.

        Awaited from another thread, since V8 does not stop in the midst of promises without end or of a huge product.
        """
        try:
            return CALLER.submit(self.command, *words, timeout_sec=seconds).result(seconds + SLACK)
        except TimeoutError as error:
            raise JSTimeoutException from error
        except JSEvalException as error:  # calls of functions, unlike evals, do not say that memory was the reason
            if self.racer.was_hard_memory_limit_reached():
                raise JSOOMException("memory") from error
            raise


class Server:
    """Answers one frame after another."""

    def __init__(self, come: int, go: int) -> None:
        self.come, self.go = come, go
        self.context: Context | None = Context()
        self.alone = False  # whether one `run` is one query

    def serve(self) -> None:
        """Until the pipe is closed."""
        self.write(b"K", b"")
        deeds: dict[bytes, Callable[[bytes], None]] = {
            b"O": self.open,
            b"R": self.run,
            b"E": self.end,
            b"C": self.check,
        }
        while True:
            if not select.select([self.come], [], [], IDLE_SECONDS)[0]:
                return
            size = int.from_bytes(self.read(4))
            frame = self.read(size)
            deeds[frame[:1]](frame[1:])

    def read(self, size: int) -> bytes:
        parts = []
        while size:
            part = os.read(self.come, min(size, 1 << 20))
            if not part:
                os._exit(0)
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def write(self, kind: bytes, body: bytes) -> None:
        left = memoryview((len(body) + 1).to_bytes(4) + kind + body)
        while left:
            left = left[os.write(self.go, left) :]

    def open(self, body: bytes) -> None:
        """Compiles a script for the batch that follows."""
        given = json.loads(body)
        if self.context is None:
            self.context = Context()
        self.context.racer.set_hard_memory_limit(given["megabytes"] * 1024 * 1024)
        answer = str(self.context.call(HOUSEKEEPING, "open", given["script"], json.dumps(given["settings"])))
        self.alone = answer == "alone"
        if answer in {"ok", "alone"}:
            self.write(b"K", b"")
        else:
            self.write(b"X", json.dumps(place_of_error(given["script"])).encode())

    def run(self, body: bytes) -> None:
        """Scores the queries of one frame, an answer for every slice of them."""
        header, queries = body.split(b"\n", 1)
        left, slice_seconds, seconds = (float(word) for word in header.split())
        context = self.context
        if context is None:
            os._exit(3)
        # The kernel's own clock, should Python or V8 hang beyond all limits.
        signal.setitimer(signal.ITIMER_REAL, HOUSEKEEPING + left * (slice_seconds + 2 * seconds + 1))
        why = ""
        try:
            context.call(HOUSEKEEPING, "load", queries.decode("ascii"))
        except (JSOOMException, JSTimeoutException):
            return self.write(b"U", b"memory")
        while left:
            try:
                context.call(slice_seconds + seconds, "run", slice_seconds)
            except JSTimeoutException:
                why = "time"
            except JSOOMException:
                why = "memory"
            try:
                counted, rows = context.call(seconds + 0.2, "finish").split("\n", 1)
            except (JSTimeoutException, JSOOMException) as error:
                why = why or ("memory" if isinstance(error, JSOOMException) else "time")
                return self.write(b"S", f"{why}\n[]".encode()) if self.alone else self.write(b"U", why.encode())
            done, tainted, suspect = (int(word) for word in counted.split())
            if why:
                kept = json.dumps(json.loads(rows)[:-1]) if suspect else rows
                return self.write(b"S", f"{why}\n{kept}".encode())
            left -= done
            self.write(b"T" if tainted else b"D", rows.encode())
            if tainted:
                return self.renew()
        signal.setitimer(signal.ITIMER_REAL, 0)
        return None

    def end(self, _body: bytes) -> None:
        self.renew()

    def renew(self) -> None:
        """A context for the next script, made before it is asked for."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        if self.context:
            self.context.command = None
            self.context.racer.close()
        self.context = Context()

    def check(self, body: bytes) -> None:
        found = place_of_error(json.loads(body))
        self.write(b"X" if found else b"K", json.dumps(found).encode())


def place_of_error(script: str) -> list[Any] | None:
    """[message, line, column] of a script's syntax error, None where it compiles. Nothing of it is run."""
    with MiniRacer() as racer:
        alone: Any = racer.eval("(s => { try { new Function(s); return '' } catch (e) { return String(e.message) } })")
        message = alone(script, timeout_sec=HOUSEKEEPING)
        del alone
        if not message:
            return None
        # First as a program, where a brace too many is found; then, for scripts with `return`, inside a function.
        for before, after in (("throw 0;\n", ""), ("throw 0;(function () {\n", "\n})")):
            try:
                racer.eval(before + script + after, timeout_sec=HOUSEKEEPING)
            except JSParseException as error:
                if "Illegal return" not in str(error):
                    return place_in(str(error), script)
            except (JSEvalException, JSTimeoutException, JSOOMException):
                continue
    return [message, None, None]


def place_in(told: str, script: str) -> list[Any]:
    """V8's words, its line less our own one, and the column that its caret points at."""
    lines = told.split("\n")
    if "Maximum call stack" in lines[0]:
        return ["The script has brackets in brackets beyond what can be compiled", None, None]
    found = _PLACE.match(lines[0])
    if not found:
        return [lines[0], None, None]
    line, own = int(found[1]) - 1, re.split(r"\r\n|[\n\r\u2028\u2029]", script)
    if line > len(own) or found[2] in {"Unexpected end of input", "Unterminated template literal"}:
        return ["The script ends too early: a bracket or brace is not closed", len(own), len(own[-1]) + 1]
    caret = re.match(r"(\s*)\^", lines[2]) if len(lines) > 2 else None
    return [found[2], line, len(caret[1]) + 1 if caret else None]


def put_up_walls() -> None:
    """Limits of the kernel, for what V8's own do not see."""
    for what, most in (
        (resource.RLIMIT_DATA, DATA_BYTES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 64),
    ):
        resource.setrlimit(what, (most, most))


def close_system_calls() -> None:
    """seccomp, where `pyseccomp` is installed: files, network and other processes are refused by the kernel."""
    try:
        import pyseccomp as seccomp  # noqa: PLC0415 (an extra)
    except Exception:  # no package, or its library is missing
        return
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    for name in FORBIDDEN:
        with contextlib.suppress(Exception):  # not a system call of this machine
            rules.add_rule(seccomp.ERRNO(1), name)
    rules.set_attr(seccomp.Attr.CTL_TSYNC, 1)
    rules.load()


def leave_with_parent(parent: int) -> None:
    """Ends this process soon after its parent. (The kernel's death signal would follow the parent's thread instead.)"""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(0)


def main() -> Literal[0]:
    """Serves until the parent goes."""
    come, go = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(nothing, each)
    put_up_walls()
    threading.Thread(target=leave_with_parent, args=(int(sys.argv[1]),), daemon=True).start()
    server = Server(come, go)
    close_system_calls()
    server.serve()
    return 0


if __name__ == "__main__":
    try:
        main()
    finally:
        os._exit(1)  # an unclosed V8 hangs when Python ends
