"""Connection pools that connect only to addresses that were checked.

urllib3 would resolve a name again when it connects; a name server that returns another address the second time (DNS
rebinding) would lead past the check. Here each new connection resolves the name once, checks every address, and connects to
one of exactly these. TLS still verifies the certificate against the host name.
"""

from __future__ import annotations

import socket
import ssl
from typing import Any

import certifi
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, Timeout
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError
from urllib3.util.connection import create_connection

from .addresses import Address, AddressRules


def _connect(connection: HTTPConnection, rules: AddressRules) -> socket.socket:
    last_error: OSError | None = None
    for ip in rules.resolve(connection.host, connection.port):
        try:
            return create_connection(
                (ip, connection.port), connection.timeout, socket_options=connection.socket_options
            )
        except OSError as error:
            last_error = error
    if isinstance(last_error, TimeoutError):
        raise ConnectTimeoutError(connection, "timed out") from last_error
    raise NewConnectionError(connection, str(last_error)) from last_error


class _PinnedHTTP(HTTPConnection):
    def __init__(self, *args: Any, rules: AddressRules, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._rules = rules

    def _new_conn(self) -> socket.socket:
        return _connect(self, self._rules)


class _PinnedHTTPS(HTTPSConnection):
    def __init__(self, *args: Any, rules: AddressRules, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._rules = rules

    def _new_conn(self) -> socket.socket:
        return _connect(self, self._rules)


class _HTTPPool(HTTPConnectionPool):
    ConnectionCls = _PinnedHTTP


class _HTTPSPool(HTTPSConnectionPool):
    ConnectionCls = _PinnedHTTPS


def open_pool(address: Address, rules: AddressRules, *, size: int, timeout: Timeout) -> HTTPConnectionPool:
    """Returns a pool of at most `size` connections to one address; a thread that needs another one waits.

    Ignores proxies of the environment. Verifies certificates against the system's authorities and Mozilla's.
    """
    options: dict[str, Any] = {"maxsize": size, "block": True, "timeout": timeout, "retries": False, "rules": rules}
    if address.scheme == "http":
        return _HTTPPool(address.host, address.port, **options)
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return _HTTPSPool(address.host, address.port, ssl_context=context, **options)
