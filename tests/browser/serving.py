"""The site on a port of loopback, for a browser."""

import mimetypes
import threading
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders
from django.contrib.staticfiles.handlers import StaticFilesHandler
from pytest_django.live_server_helper import LiveServer

# With SQLite in memory every thread of the server has the test's own connection: requests take turns on it, or one
# would find itself inside the transaction of another. A test that writes while a page polls takes its turn as well.
TURN = threading.RLock()
_QUIET = 0.02  # seconds


class OneAtATime(StaticFilesHandler):
    """Serves static files from memory without waiting, because every test requests all of them; serves pages one after the
    other."""

    is_active = 0

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if self._should_handle(path) and (file := _file(self.file_path(path))):
            kind, content = file
            start_response("200 OK", [("Content-Type", kind), ("Content-Length", str(len(content)))])
            return [content]
        OneAtATime.is_active += 1
        try:
            with TURN:
                return super().__call__(environ, start_response)
        finally:
            OneAtATime.is_active -= 1


@cache
def _file(name: str) -> tuple[str, bytes] | None:
    path = finders.find(name)
    return (mimetypes.guess_type(name)[0] or "application/octet-stream", Path(path).read_bytes()) if path else None


def live_site() -> LiveServer:
    """A server that runs until its `stop()`."""
    server = LiveServer("127.0.0.1", start=False)
    server.thread.static_handler = OneAtATime
    server.start()
    return server


def settle() -> None:
    """Wait until the requests of a closed page are over: the tables are emptied next."""
    time.sleep(_QUIET)
    while OneAtATime.is_active:
        time.sleep(_QUIET)
