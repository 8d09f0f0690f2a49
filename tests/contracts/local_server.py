"""A small HTTP server on loopback that answers as a test tells it to, and remembers what it was asked."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Asked:
    """One request. `path` with its query string; header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    """One answer. `length`: what Content-Length claims, if not the truth; `pieces`: sent one by one instead of `body`."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None
    pieces: Iterator[bytes] | None = None


Answering = Callable[[Asked], Reply]


def json_reply(value: Any, status: int = 200, **headers: str) -> Reply:
    """An answer as Solr and Elasticsearch give it."""
    shown = {"content-type": "application/json", "x-elastic-product": "Elasticsearch", **headers}
    return Reply(json.dumps(value, ensure_ascii=False).encode(), status, shown)


@dataclass
class LocalServer:
    """`answer` may be exchanged while it runs."""

    url: str
    answer: Answering
    asked: list[Asked] = field(default_factory=list)


@contextmanager
def serving(answer: Answering) -> Iterator[LocalServer]:
    """A server for the length of a `with` block, on a free port of 127.0.0.1."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1  # headers and body in one piece, as engines send them

        def _turn(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, self.path, headers, self.rfile.read(length))
            local.asked.append(asked)
            self._send(local.answer(asked))

        def _send(self, reply: Reply) -> None:
            try:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                if reply.pieces is None:
                    self.send_header("content-length", str(len(reply.body) if reply.length is None else reply.length))
                else:
                    self.send_header("connection", "close")
                self.end_headers()
                for piece in reply.pieces if reply.pieces is not None else (reply.body,):
                    self.wfile.write(piece)
                    self.wfile.flush()
                if reply.length is not None or reply.pieces is not None:
                    self.close_connection = True
            except OSError:
                self.close_connection = True  # the asker had enough

        do_GET = do_POST = do_HEAD = _turn

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, request: Any, client_address: Any) -> None:
            pass

    server = Server(("127.0.0.1", 0), Handler)
    local = LocalServer(f"http://127.0.0.1:{server.server_port}", answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield local
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
