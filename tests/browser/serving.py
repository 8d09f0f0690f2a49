"""The site on a port of loopback, for a browser."""

import threading
from collections.abc import Callable, Iterable
from typing import Any

from django.contrib.staticfiles.handlers import StaticFilesHandler
from pytest_django.live_server_helper import LiveServer

# With SQLite in memory every thread of the server has the test's own connection: requests take turns on it, or one
# would find itself inside the transaction of another. A test that writes while a page polls takes its turn as well.
TURN = threading.RLock()


class OneAtATime(StaticFilesHandler):
    """Files at any time, pages one after the other."""

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if self._should_handle(environ.get("PATH_INFO", "")):
            return super().__call__(environ, start_response)
        with TURN:
            return super().__call__(environ, start_response)


def live_site() -> LiveServer:
    """A server that runs until its `stop()`."""
    server = LiveServer("127.0.0.1", start=False)
    server.thread.static_handler = OneAtATime
    server.start()
    return server
