"""Connection pools that connect only to addresses that were checked.

urllib3 would resolve a name again when it connects; a name server that returns another address the second time (DNS
rebinding) would lead past the check. Here each new connection resolves the name once, checks every address, and connects to
one of exactly these. TLS still verifies the certificate against the host name.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterable
from typing import Any

import certifi
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

from .addresses import Address, AddressRules
from .exchange import LimitedSocket, LimitedTLSSocket, current


def _connect(connection: HTTPConnection, rules: AddressRules) -> socket.socket:
    exchange = current()
    host, port = connection.host, connection.port
    last_error: OSError | None = None
    try:
        for ip in exchange.call(lambda: rules.resolve(host, port)):
            try:
                return _open_socket(ip, port, connection.socket_options)
            except OSError as error:
                last_error = error
    except TimeoutError as error:
        last_error = error
    if isinstance(last_error, TimeoutError):
        raise ConnectTimeoutError(connection, "timed out") from last_error
    raise NewConnectionError(connection, str(last_error)) from last_error


def _open_socket(ip: str, port: int, options: Iterable[tuple[int, int, int | bytes]] | None) -> socket.socket:
    opened = LimitedSocket(socket.AF_INET6 if ":" in ip else socket.AF_INET, socket.SOCK_STREAM)
    try:
        for option in options or ():
            opened.setsockopt(*option)
        opened.connect((ip, port))
    except BaseException:
        opened.close()
        raise
    return opened


class _Pinned(HTTPConnection):
    """Connects only to addresses that the rules allow, and reports when it waits for a response.

    Sends a request by one write. urllib3 makes one for the headers and one for the body, and each of them wakes up both sides.
    """

    def __init__(self, *args: Any, rules: AddressRules, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._rules = rules
        self._unsent: list[bytes] | None = None  # the parts of the request that is being written

    def _new_conn(self) -> socket.socket:
        return _connect(self, self._rules)

    def connect(self) -> None:
        super().connect()
        current().start_response()

    def request(self, *args: Any, **kwargs: Any) -> None:
        if self.sock is not None:
            current().start_response()
        parts: list[bytes] = []
        self._unsent = parts
        try:
            super().request(*args, **kwargs)
        finally:
            self._unsent = None
        self.send(b"".join(parts))

    def send(self, data: Any) -> None:
        if self._unsent is None:
            super().send(data)
        else:
            self._unsent.append(data)


class _PinnedHTTPS(_Pinned, HTTPSConnection):
    """The same with TLS."""


class _HTTPPool(HTTPConnectionPool):
    ConnectionCls = _Pinned


class _HTTPSPool(HTTPSConnectionPool):
    ConnectionCls = _PinnedHTTPS


def open_pool(address: Address, rules: AddressRules, *, size: int) -> HTTPConnectionPool:
    """Returns a pool of at most `size` connections to one address; a thread that needs another one waits.

    Its connections are used within `exchange.working_on`, which limits their time.

    Ignores proxies of the environment. Verifies certificates against the system's authorities and Mozilla's.
    """
    options: dict[str, Any] = {"maxsize": size, "block": True, "timeout": None, "retries": False, "rules": rules}
    if address.scheme == "http":
        return _HTTPPool(address.host, address.port, **options)
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    context.sslsocket_class = LimitedTLSSocket
    return _HTTPSPool(address.host, address.port, ssl_context=context, **options)
