"""A small HTTP server on loopback that responds as a test says, and records the requests it receives."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class ReceivedRequest:
    """One request. `path` includes the query string; header names are lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    """One response.

    `length`: a wrong Content-Length.
    `chunks`: sent one by one instead of `body`.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None
    chunks: Iterator[bytes] | None = None


Responder = Callable[[ReceivedRequest], Reply]


def json_reply(value: Any, status: int = 200, **headers: str) -> Reply:
    """Returns a JSON response as Solr and Elasticsearch send it."""
    all_headers = {"content-type": "application/json", "x-elastic-product": "Elasticsearch", **headers}
    return Reply(json.dumps(value, ensure_ascii=False).encode(), status, all_headers)


@dataclass
class LocalServer:
    """`respond` may be replaced while the server runs."""

    url: str
    respond: Responder
    received: list[ReceivedRequest] = field(default_factory=list)


@contextmanager
def serving(respond: Responder, *, port: int = 0, records: bool = True) -> Iterator[LocalServer]:
    """Runs a server on 127.0.0.1 for the duration of a `with` block. port: a free one unless given. records: whether it keeps the
    requests."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1  # headers and body in one packet, as engines send them

        def _handle(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            received = ReceivedRequest(self.command, self.path, headers, self.rfile.read(length))
            if records:
                local.received.append(received)
            self._send(local.respond(received))

        def _send(self, reply: Reply) -> None:
            try:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                if reply.chunks is None:
                    self.send_header("content-length", str(len(reply.body) if reply.length is None else reply.length))
                else:
                    self.send_header("connection", "close")
                self.end_headers()
                for chunk in reply.chunks if reply.chunks is not None else (reply.body,):
                    self.wfile.write(chunk)
                    self.wfile.flush()
                if reply.length is not None or reply.chunks is not None:
                    self.close_connection = True
            except OSError:
                self.close_connection = True  # the client closed the connection

        do_GET = do_POST = do_HEAD = do_DELETE = _handle

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, request: Any, client_address: Any) -> None:
            pass

    server = Server(("127.0.0.1", port), Handler)
    local = LocalServer(f"http://127.0.0.1:{server.server_port}", respond)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield local
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
