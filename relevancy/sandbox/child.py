"""The child process: V8 behind two pipes. Started by its path with an empty environment; imports nothing of relevancy.

A frame is four bytes of length, one letter, and a body.

To the child: `O` compile a script (JSON); `R` run it over queries (a line "count, seconds per slice, seconds per
query", then JSON); `E` end of the batch; `C` check a script.

To the parent: `K` ready; `X` syntax error; `D` outcomes; `T` outcomes, after which the context was replaced because the
script had tainted it; `S` a line with the reason ("time" or "memory") and outcomes: the query after these was stopped;
`U` the same reason alone: something was stopped, and the query is unknown.
"""

from __future__ import annotations

import contextlib
import errno
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
DATA_BYTES = 800 * 1024 * 1024  # V8 does not start with less
IDLE_SECONDS = 600
INTERNAL_SECONDS = 5.0  # for our own work: compiling, parsing JSON
STOP_SECONDS = 0.3  # that V8 may take to notice that it has to stop
FINISH_SECONDS = 0.2  # for collecting outcomes, in addition to the time of a query
PARENT_CHECK_SECONDS = 0.5
EXECUTOR = ThreadPoolExecutor(1)
FORBIDDEN_SYSTEM_CALLS = (
    *("socket", "connect", "bind", "listen", "accept", "accept4", "execve", "execveat", "fork"),
    *("vfork", "open", "openat", "openat2", "creat", "unlink", "unlinkat", "rename", "renameat", "renameat2", "mkdir"),
    *("mkdirat", "symlink", "symlinkat", "link", "linkat", "truncate", "ftruncate", "chmod", "fchmodat", "chown"),
    *("kill", "ptrace", "process_vm_readv", "process_vm_writev", "mount", "umount2", "setsid", "chroot", "bpf"),
    *("unshare", "setns", "io_uring_setup", "userfaultfd", "perf_event_open", "keyctl", "add_key", "request_key"),
)
CLONE_THREAD = 0x10000
# MiniRacer's own timers would be a global class that cannot be removed again.
_mini_racer.INSTALL_SET_TIMEOUT = "0"  # type: ignore[attr-defined]
_SYNTAX_ERROR = re.compile(r"<anonymous>:(\d+): (?:SyntaxError: )?(.*)")


class Context:
    """A new V8 context without access to anything outside, and the one function that runs scripts in it."""

    def __init__(self) -> None:
        self.racer = MiniRacer()
        setup = """(createHarness, api, harden) => {
            const command = createHarness(api);
            harden(() => command("expectPromises"));
            return command;
        }"""
        source = f"({setup})({HARNESS}\n,{API}\n,{HARDEN}\n)"
        self.command: Any = self.racer.eval(source, timeout_sec=INTERNAL_SECONDS)

    def call(self, seconds: float, *arguments: str | float) -> Any:
        """Runs one command of harness.js. After `seconds` V8 is stopped and `JSTimeoutException` raised.

        Runs in another thread, because V8 does not stop in the middle of endless promises or of a huge multiplication.
        """
        try:
            return EXECUTOR.submit(self.command, *arguments, timeout_sec=seconds).result(seconds + STOP_SECONDS)
        except TimeoutError as error:
            raise JSTimeoutException from error
        except JSEvalException as error:  # unlike `eval`, a function call does not say that memory was the reason
            if self.racer.was_hard_memory_limit_reached():
                raise JSOOMException("memory") from error
            raise


class Server:
    """Answers one frame after another."""

    def __init__(self, input_fd: int, output_fd: int) -> None:
        self.input_fd, self.output_fd = input_fd, output_fd
        self.context: Context | None = Context()
        self.runs_one_query = False  # whether each `run` command runs a single query

    def serve(self) -> None:
        """Answers frames until the pipe is closed or nothing arrives for a long time."""
        self.write(b"K", b"")
        handlers: dict[bytes, Callable[[bytes], None]] = {
            b"O": self.open,
            b"R": self.run,
            b"E": self.end,
            b"C": self.check,
        }
        while True:
            if not select.select([self.input_fd], [], [], IDLE_SECONDS)[0]:
                return
            size = int.from_bytes(self.read(4))
            frame = self.read(size)
            handlers[frame[:1]](frame[1:])

    def read(self, size: int) -> bytes:
        parts = []
        while size:
            part = os.read(self.input_fd, min(size, 1 << 20))
            if not part:
                os._exit(0)
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def write(self, kind: bytes, body: bytes) -> None:
        remaining = memoryview((len(body) + 1).to_bytes(4) + kind + body)
        while remaining:
            remaining = remaining[os.write(self.output_fd, remaining) :]

    def open(self, body: bytes) -> None:
        """Compiles a script for the queries that follow."""
        opening = json.loads(body)
        if self.context is None:
            self.context = Context()
        self.context.racer.set_hard_memory_limit(opening["megabytes"] * 1024 * 1024)
        script, settings = opening["script"], json.dumps(opening["settings"])
        answer = str(self.context.call(INTERNAL_SECONDS, "open", script, settings))
        self.runs_one_query = answer == "isolated"
        if answer in {"ok", "isolated"}:
            self.write(b"K", b"")
        else:
            self.write(b"X", json.dumps(find_syntax_error(script)).encode())

    def run(self, body: bytes) -> None:
        """Scores the queries of one frame, and answers after every slice of them."""
        header, queries = body.split(b"\n", 1)
        remaining, slice_seconds, seconds = (float(number) for number in header.split())
        context = self.context
        if context is None:
            os._exit(3)
        # A timer of the kernel, in case Python or V8 hangs despite all limits.
        signal.setitimer(signal.ITIMER_REAL, INTERNAL_SECONDS + remaining * (slice_seconds + 2 * seconds + 1))
        reason = ""
        try:
            context.call(INTERNAL_SECONDS, "load", queries.decode("ascii"))
        except (JSOOMException, JSTimeoutException):
            return self.write(b"U", b"memory")
        while remaining:
            try:
                context.call(slice_seconds + seconds, "run", slice_seconds)
            except JSTimeoutException:
                reason = "time"
            except JSOOMException:
                reason = "memory"
            try:
                counts, rows = context.call(seconds + FINISH_SECONDS, "finish").split("\n", 1)
            except (JSTimeoutException, JSOOMException) as error:
                reason = reason or ("memory" if isinstance(error, JSOOMException) else "time")
                if self.runs_one_query:
                    return self.write(b"S", f"{reason}\n[]".encode())
                return self.write(b"U", reason.encode())
            finished, is_tainted, is_last_suspect = (int(number) for number in counts.split())
            if reason:
                innocent = json.dumps(json.loads(rows)[:-1]) if is_last_suspect else rows
                return self.write(b"S", f"{reason}\n{innocent}".encode())
            remaining -= finished
            self.write(b"T" if is_tainted else b"D", rows.encode())
            if is_tainted:
                return self.replace_context()
        signal.setitimer(signal.ITIMER_REAL, 0)
        return None

    def end(self, _body: bytes) -> None:
        """Prepares for the next script before it arrives."""
        self.replace_context()

    def replace_context(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        if self.context:
            self.context.command = None
            self.context.racer.close()
        self.context = Context()

    def check(self, body: bytes) -> None:
        syntax_error = find_syntax_error(json.loads(body))
        self.write(b"X" if syntax_error else b"K", json.dumps(syntax_error).encode())


def find_syntax_error(script: str) -> list[Any] | None:
    """Returns [message, line, column] of the script's syntax error, None if it compiles. Runs nothing of it."""
    with MiniRacer() as racer:
        compiler: Any = racer.eval(
            "(s => { try { new Function(s); return '' } catch (e) { return String(e.message) } })"
        )
        message = compiler(script, timeout_sec=INTERNAL_SECONDS)
        del compiler
        if not message:
            return None
        # First as a program, which finds surplus braces; then, for scripts with `return`, inside a function.
        for before, after in (("throw 0;\n", ""), ("throw 0;(function () {\n", "\n})")):
            try:
                racer.eval(before + script + after, timeout_sec=INTERNAL_SECONDS)
            except JSParseException as error:
                if "Illegal return" not in str(error):
                    return parse_syntax_error(str(error), script)
            except (JSEvalException, JSTimeoutException, JSOOMException):
                continue
    return [message, None, None]


def parse_syntax_error(report: str, script: str) -> list[Any]:
    """Returns [message, line, column] from V8's report: its line minus the one that we added, and the column of its caret."""
    report_lines = report.split("\n")
    if "Maximum call stack" in report_lines[0]:
        return ["The script has too many nested brackets to be compiled", None, None]
    match = _SYNTAX_ERROR.match(report_lines[0])
    if not match:
        return [report_lines[0], None, None]
    line, script_lines = int(match[1]) - 1, re.split(r"\r\n|[\n\r\u2028\u2029]", script)
    if line > len(script_lines) or match[2] in {"Unexpected end of input", "Unterminated template literal"}:
        message = "The script ends too early: a bracket or brace is not closed"
        return [message, len(script_lines), len(script_lines[-1]) + 1]
    caret = re.match(r"(\s*)\^", report_lines[2]) if len(report_lines) > 2 else None
    return [match[2], line, len(caret[1]) + 1 if caret else None]


def apply_rlimits() -> None:
    """Sets limits of the kernel for what V8's own limits do not cover."""
    for limit, maximum in (
        (resource.RLIMIT_DATA, DATA_BYTES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 64),
    ):
        resource.setrlimit(limit, (maximum, maximum))


def forbid_system_calls() -> None:
    """Lets the kernel refuse files, network and other processes (seccomp), where the system allows that.

    The child works without it on systems other than Linux, and where libseccomp is missing or the kernel refuses filters.
    """
    with contextlib.suppress(Exception):
        import pyseccomp as seccomp  # noqa: PLC0415 (fails where libseccomp is missing)

        rules = seccomp.SyscallFilter(seccomp.ALLOW)
        for name in FORBIDDEN_SYSTEM_CALLS:
            with contextlib.suppress(Exception):  # not a system call on this machine
                rules.add_rule(seccomp.ERRNO(errno.EPERM), name)
        # Threads are needed. The flags of clone3 cannot be checked, so the C library has to use clone instead.
        is_process = seccomp.Arg(0, seccomp.MASKED_EQ, CLONE_THREAD, 0)
        rules.add_rule(seccomp.ERRNO(errno.EPERM), "clone", is_process)
        rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
        rules.set_attr(seccomp.Attr.CTL_TSYNC, 1)
        rules.load()


def exit_with_parent(parent: int) -> None:
    """Exits soon after the parent. (The kernel's parent death signal depends on the parent's thread instead.)"""
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK_SECONDS)
    os._exit(0)


def main() -> Literal[0]:
    """Answers frames until the parent ends."""
    input_fd, output_fd = os.dup(0), os.dup(1)
    devnull = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(devnull, fd)
    apply_rlimits()
    threading.Thread(target=exit_with_parent, args=(int(sys.argv[1]),), daemon=True).start()
    server = Server(input_fd, output_fd)
    forbid_system_calls()
    server.serve()
    return 0


if __name__ == "__main__":
    try:
        main()
    finally:
        os._exit(1)  # Python would hang at its end if V8 is not closed
