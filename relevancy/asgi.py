"""What the web server calls: reads a request completely, and only then takes a thread for it.

The pages are synchronous. A server that hands a request to a thread before its body has arrived can be stopped by a few
clients that send one byte each (see docs/decisions/0042).
"""

import asyncio
import io
import logging
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any
from urllib.parse import unquote_to_bytes

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "relevancy.settings")

from django.conf import settings

from relevancy import events
from relevancy.wsgi import application as wsgi_application

log = logging.getLogger("relevancy.requests")

type Scope = dict[str, Any]
type Message = dict[str, Any]
type Receive = Callable[[], Awaitable[Message]]
type Send = Callable[[Message], Awaitable[None]]

BODY_SECONDS = 20.0  # for any body
BODY_BYTES_PER_SECOND = 16 * 1024  # a large body gets the additional time that it takes at this rate
DISCARD_SECONDS = (
    10.0  # a body that is too large is read and discarded: browsers show an answer only after they have sent it
)
MAX_UNFINISHED = 200  # bodies that are being received by a process; of more, the oldest is refused
MAX_SPOOLED = 512 * 1024 * 1024  # bytes of these bodies
MAX_QUEUED = 200  # requests that wait for a thread of a process
URGENT_PATHS = frozenset({"/healthz"})  # have a thread of their own: a busy site is alive
BUSY = "The server is busy. Try again in a moment."
LONG_BODY = 128 * 1024  # bytes; longer ones are kept in a temporary file
LONG_RESPONSE = 1024 * 1024
# Python runs one thread at a time. After each statement of a rating, its thread waits this long if a page is being computed beside it.
SWITCH_SECONDS = 0.001


class _RejectedRequest(Exception):
    """A request that is answered without the application."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class _Disconnected(Exception):
    """The client has gone."""


class _Body:
    """The body of one request while it arrives."""

    def __init__(self, task: "asyncio.Task[Any]") -> None:
        self.task = task
        self.file: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=LONG_BODY)  # noqa: SIM115 (closed after the response)
        self.size = 0
        self.is_given_up = False


class Application:
    """Runs a WSGI application in threads behind an ASGI server. One instance per process.

    Args:
        wsgi: the WSGI application.
        threads: number of requests that are processed at the same time.
        max_body: the largest accepted body, in bytes.
    """

    def __init__(self, wsgi: Callable[..., Iterable[bytes]], *, threads: int, max_body: int) -> None:
        self._wsgi = wsgi
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="web")
        self._urgent_pool = ThreadPoolExecutor(1, thread_name_prefix="web-urgent")
        self._max_body = max_body
        self._unfinished: dict[_Body, None] = {}  # oldest first
        self._queued = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise ValueError(f"Only HTTP is supported, not {scope['type']!r}.")
        body: IO[bytes] | None = None
        try:
            body = await self._receive_body(scope, receive)
            response = await self._respond(scope, body)
        except _Disconnected:
            return
        except _RejectedRequest as refusal:
            log.warning(
                "(refused unread): %s", refusal.status, extra={"fields": {"view": "", "status": refusal.status}}
            )
            events.record("request", view="", method="other", status=str(refusal.status))
            await _send_text(send, refusal.status, str(refusal))
            return
        finally:
            if body is not None:
                body.close()
        await response.send(send)

    async def _receive_body(self, scope: Scope, receive: Receive) -> IO[bytes]:
        """Returns the complete body, rewound. Raises `_RejectedRequest`, `_Disconnected`."""
        declared = _content_length(scope)
        if declared == 0:
            return io.BytesIO()
        if declared is not None and declared > self._max_body:
            await _discard(receive)
            raise self._too_large(declared)
        task = asyncio.current_task()
        assert task is not None
        body = _Body(task)
        self._unfinished[body] = None
        try:
            if await self._fill(body, receive):
                body.file.seek(0)
                return body.file
            await _discard(receive)
            raise self._too_large(body.size)
        except TimeoutError:
            body.file.close()
            raise _RejectedRequest(408, "The request did not arrive in time. Try again.") from None
        except asyncio.CancelledError:
            body.file.close()
            if not body.is_given_up:
                raise
            task.uncancel()
            raise _RejectedRequest(503, BUSY) from None
        except BaseException:
            body.file.close()
            raise
        finally:
            del self._unfinished[body]

    async def _fill(self, body: _Body, receive: Receive) -> bool:
        """Receives the body. Returns False as soon as it is too large. Raises `TimeoutError`, `_Disconnected`."""
        started = asyncio.get_running_loop().time()
        async with asyncio.timeout_at(started + BODY_SECONDS) as deadline:
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise _Disconnected
                chunk = message.get("body", b"")
                body.size += len(chunk)
                if body.size > self._max_body:
                    return False
                body.file.write(chunk)
                if not message.get("more_body"):
                    return True
                deadline.reschedule(started + BODY_SECONDS + body.size / BODY_BYTES_PER_SECOND)
                self._give_up_oldest()

    def _give_up_oldest(self) -> None:
        waiting = [body for body in self._unfinished if not body.is_given_up]
        if len(waiting) > MAX_UNFINISHED or sum(body.size for body in waiting) > MAX_SPOOLED:
            waiting[0].is_given_up = True
            waiting[0].task.cancel()

    def _too_large(self, size: int) -> _RejectedRequest:
        return _RejectedRequest(413, f"The request has {size:,} bytes or more; the maximum is {self._max_body:,}.")

    async def _respond(self, scope: Scope, body: IO[bytes]) -> "_Response":
        environ, loop = build_environ(scope, body), asyncio.get_running_loop()
        if environ["PATH_INFO"] in URGENT_PATHS:
            return await loop.run_in_executor(self._urgent_pool, self._run, environ)
        if self._queued >= MAX_QUEUED:
            raise _RejectedRequest(503, BUSY)
        self._queued += 1
        try:
            return await loop.run_in_executor(self._pool, self._run, environ)
        finally:
            self._queued -= 1

    def _run(self, environ: dict[str, Any]) -> "_Response":
        """Runs the application in a thread. The response is collected, so that a slow reader does not keep the thread."""
        response = _Response()
        chunks = self._wsgi(environ, response.start)
        try:
            for chunk in chunks:
                response.write(chunk)
        finally:
            if hasattr(chunks, "close"):
                chunks.close()
        return response


class _Response:
    """The complete response of the application: in memory, or in a temporary file if it is long."""

    def __init__(self) -> None:
        self._status = 500
        self._headers: list[tuple[bytes, bytes]] = []
        self._chunks: list[bytes] = []
        self._size = 0
        self._file: IO[bytes] | None = None

    def start(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[[bytes], None]:
        """The `start_response` of WSGI."""
        self._status = int(status[:3])
        self._headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        return self.write

    def write(self, chunk: bytes) -> None:
        """Adds a part of the body."""
        self._chunks.append(chunk)
        self._size += len(chunk)
        if self._size > LONG_RESPONSE:
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `send`)
            self._file.writelines(self._chunks)
            self._chunks.clear()

    async def send(self, send: Send) -> None:
        """Sends the response."""
        await send({"type": "http.response.start", "status": self._status, "headers": self._headers})
        if self._file is not None:
            with self._file as file:
                file.seek(0)
                while chunk := file.read(LONG_RESPONSE):
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"".join(self._chunks)})


def build_environ(scope: Scope, body: IO[bytes]) -> dict[str, Any]:
    """Returns the environment of WSGI. Leaves out headers with underscores: they could pass for other headers, such as
    `X_Forwarded_Proto` for `X-Forwarded-Proto`, which a proxy checks."""
    server, client = scope.get("server") or ("localhost", 80), scope.get("client") or ("", 0)
    path = unquote_to_bytes(scope["raw_path"]) if scope.get("raw_path") else scope["path"].encode()
    environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": path.decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": str(server[0]),
        "SERVER_PORT": str(server[1] or 0),
        "REMOTE_ADDR": str(client[0]),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.input": body,
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for name, value in scope["headers"]:
        if b"_" in name:
            continue
        key = name.decode("latin-1").upper().replace("-", "_")
        key = key if key in {"CONTENT_LENGTH", "CONTENT_TYPE"} else f"HTTP_{key}"
        text = value.decode("latin-1")
        separator = "; " if key == "HTTP_COOKIE" else ","
        environ[key] = f"{environ[key]}{separator}{text}" if key in environ else text
    if "CONTENT_LENGTH" not in environ:  # a chunked body; Django reads no more than the declared length
        environ["CONTENT_LENGTH"] = str(body.seek(0, os.SEEK_END))
        body.seek(0)
    return environ


def _content_length(scope: Scope) -> int | None:
    """Returns the declared length; 0 for a request without body, None for a body of unknown length."""
    headers = dict(scope["headers"])
    declared = headers.get(b"content-length", b"")
    if declared.isdigit():
        return int(declared) if len(declared) < 20 else 10**20
    return None if b"transfer-encoding" in headers else 0


async def _discard(receive: Receive) -> None:
    """Reads and forgets the rest of a body, for some seconds at most."""
    try:
        async with asyncio.timeout(DISCARD_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise _Disconnected
                if not message.get("more_body"):
                    return
    except TimeoutError:
        return


async def _send_text(send: Send, status: int, text: str) -> None:
    body = text.encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        (b"retry-after", b"5"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


sys.setswitchinterval(SWITCH_SECONDS)
application = Application(wsgi_application, threads=settings.WEB_THREADS, max_body=settings.MAX_REQUEST_SIZE)
