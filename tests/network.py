"""Blocks the network in the test process, except for loopback addresses and Unix sockets.

An audit hook sees every connection and every name lookup of Python code, whichever library makes it. Unlike pytest-socket it
also blocks name lookups, which would otherwise leave the machine although the connection is blocked.
"""

import socket
import sys
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any


class NetworkBlocked(RuntimeError):
    """A test tried to use the network. Not an `OSError`, which the code under test could handle."""


def _is_local(host: Any) -> bool:
    if host in (None, "", b"", "localhost", b"localhost"):
        return True
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    try:
        return ip_address(text.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _is_numeric(host: Any) -> bool:
    """Whether a lookup of the host needs no name server: also 2130706433 and 0x7f000001 are numeric."""
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    try:
        ip_address(text.partition("%")[0])
    except ValueError:
        try:
            socket.inet_aton(text)
        except OSError:
            return False
    return True


def _check_address(event: str, address: Any) -> None:
    if isinstance(address, tuple) and not _is_local(address[0]):
        raise NetworkBlocked(f"{event} to {address[0]}: tests use loopback addresses only.")


def _check_lookup(event: str, host: Any) -> None:
    if not _is_local(host) and not _is_numeric(host):
        raise NetworkBlocked(f"{event} of {host}: tests resolve no names. Give AddressRules a resolver.")


_CHECKS: dict[str, Callable[[str, tuple[Any, ...]], None]] = {
    "socket.connect": lambda event, arguments: _check_address(event, arguments[1]),
    "socket.sendto": lambda event, arguments: _check_address(event, arguments[1]),
    "socket.sendmsg": lambda event, arguments: _check_address(event, arguments[1]),
    "socket.getaddrinfo": lambda event, arguments: _check_lookup(event, arguments[0]),
    "socket.gethostbyname": lambda event, arguments: _check_lookup(event, arguments[0]),
    "socket.gethostbyaddr": lambda event, arguments: _check_lookup(event, arguments[0]),
}


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    check = _CHECKS.get(event)
    if check is not None:
        check(event, arguments)


sys.addaudithook(_hook)
