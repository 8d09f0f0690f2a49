"""A line to a server that can be cut, as if the server had gone away, and joined again."""

import socket
import threading
from contextlib import suppress

from tests.live.servers import free_port

CHUNK = 64 * 1024


class Line:
    """Forwards connections to a server on loopback.

    port: at which it listens. passed: bytes that the server has sent through it. cut_at: it is cut as soon as so many have passed.
    """

    def __init__(self, target: int) -> None:
        self.target, self.port = target, free_port()
        self.passed = 0
        self.cut_at: int | None = None
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self.join()

    def join(self) -> None:
        """Listens, from now on without an end."""
        self.cut_at = None
        listener = socket.create_server(("127.0.0.1", self.port))
        with self._lock:
            self._open.add(listener)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def cut(self) -> None:
        """Closes all connections and refuses further ones."""
        with self._lock:
            sockets, self._open = self._open, set()
        for each in sockets:
            with suppress(OSError):  # the other side has closed it
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):  # the line was cut
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
                with self._lock:
                    if listener not in self._open:
                        client.close()
                        server.close()
                        return
                    self._open |= {client, server}
                for pair, is_answer in (((client, server), False), ((server, client), True)):
                    threading.Thread(target=self._forward, args=(*pair, is_answer), daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket, is_answer: bool) -> None:
        with suppress(OSError):
            while data := source.recv(CHUNK):
                self.passed += len(data) * is_answer
                if self.cut_at is not None and self.passed >= self.cut_at:
                    self.cut()
                    return
                target.sendall(data)
        with self._lock:
            self._open -= {source, target}
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
