"""Which addresses may be asked. Every address a name resolves to is checked, at the moment of connecting."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from .errors import EndpointUnreachable

Ip = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Resolver = Callable[[str, int], list[str]]

# Cloud providers answer with machine credentials here; the first is link-local too, the others are ordinary addresses.
_METADATA = frozenset(
    ip_address(text)
    for text in ("169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254")
)
_THIS_NETWORK = ip_network("0.0.0.0/8")
_NAT64 = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"))
_IPV4_COMPATIBLE = ip_network("::/96")
_DEFAULT_PORTS = {"http": 80, "https": 443}
# What browsers and libraries read differently from each other must not be in an address at all.
_STRANGE = re.compile(r"[\x00-\x20\x7f\\]")


@dataclass(frozen=True)
class Address:
    """A URL taken apart. `host` is lower case, ASCII, without brackets; `path` has no slash at its end."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def base(self) -> str:
        """Scheme, host and port, as they are shown in messages."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    def __str__(self) -> str:
        return self.base + self.path


def system_resolver(host: str, port: int) -> list[str]:
    """Every address of a name, in the order of the system's preference. Raises `OSError` where the name is unknown."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True)
class AddressRules:
    """Public addresses may be asked; loopback and private ones only where allowed; some never (`forbidden`).

    `private_allowed` opens every private address (debug, demo); `hosts` are `(host pattern, port or None)`, `networks`
    are ranges. Both open private addresses only: no setting opens link-local, metadata, unspecified or multicast ones.
    """

    private_allowed: bool = False
    hosts: tuple[tuple[str, int | None], ...] = ()
    networks: tuple[Network, ...] = ()
    resolver: Resolver = field(default=system_resolver, repr=False, compare=False)

    @classmethod
    def parse(cls, text: str, *, private_allowed: bool = False) -> AddressRules:
        """Read `RELEVANCY_ENDPOINT_HOSTS`: `host:port` patterns (`*` allowed, in the port too) and networks (CIDR or one
        address), separated by commas or white space. Raises `ValueError` naming the entry that cannot be read."""
        hosts: list[tuple[str, int | None]] = []
        networks: list[Network] = []
        for entry in re.split(r"[\s,]+", text.strip()):
            if not entry:
                continue
            try:
                networks.append(ip_network(entry))
            except ValueError:
                hosts.append(_host_pattern(entry))
        return cls(private_allowed=private_allowed, hosts=tuple(hosts), networks=tuple(networks))

    def read(self, url: str) -> Address:
        """Take a URL apart without asking the network. Raises `EndpointUnreachable` saying what is wrong with it."""
        return _read(url)

    def check(self, url: str) -> Address:
        """Take a URL apart, resolve its name and check every address. Raises `EndpointUnreachable`."""
        address = _read(url)
        self.resolve(address.host, address.port)
        return address

    def resolve(self, host: str, port: int) -> list[str]:
        """The addresses of a host, all of them allowed. One forbidden address refuses the host as a whole, since which
        one a later connection would take is not ours to say. Raises `EndpointUnreachable`."""
        try:
            found = self.resolver(host, port)
        except (OSError, UnicodeError) as error:
            raise EndpointUnreachable(
                f"The name “{host}” is not known to this machine's name service.",
                todo="Check the endpoint's address for a typing mistake.",
            ) from error
        for text in found:
            self._check_ip(host, port, ip_address(text.partition("%")[0]))
        return found

    def _check_ip(self, host: str, port: int, ip: Ip) -> None:
        for one in _embedded(ip):
            shown = host if host == str(one) else f"{host} ({one})"
            why = forbidden(one)
            if why:
                raise EndpointUnreachable(
                    f"{shown} is {why} and is never asked.", todo="Use the address of the search engine itself."
                )
            if not one.is_global and not self._private_ok(host, port, one):
                raise EndpointUnreachable(
                    f"{shown}, port {port}, is a private address, and this installation does not allow it.",
                    todo=f"An administrator can allow it: add {_bracketed(host)}:{port} to RELEVANCY_ENDPOINT_HOSTS.",
                )

    def _private_ok(self, host: str, port: int, ip: Ip) -> bool:
        if self.private_allowed or any(ip in network for network in self.networks):
            return True
        return any(fnmatchcase(host, name) and wanted in (None, port) for name, wanted in self.hosts)


def forbidden(ip: Ip) -> str:
    """Why an address is never asked, in words, or an empty string."""
    if ip in _METADATA:
        return "a cloud metadata address"
    if ip.is_link_local:
        return "a link-local address"
    if ip.is_multicast:
        return "a multicast address"
    if ip.is_unspecified or ip in _THIS_NETWORK:
        return "an unspecified address"
    if ip.version == 4 and ip.is_reserved:
        return "a reserved address"
    return ""


def _embedded(ip: Ip) -> list[Ip]:
    """The address, or the IPv4 addresses that a translated IPv6 address leads to (mapped, NAT64, 6to4, Teredo)."""
    if isinstance(ip, IPv4Address):
        return [ip]
    if ip.ipv4_mapped:
        return [ip.ipv4_mapped]
    last = IPv4Address(int(ip) & 0xFFFFFFFF)
    if any(ip in network for network in _NAT64):
        return [last]
    if ip.sixtofour:
        return [ip, ip.sixtofour]
    if ip.teredo:
        return [ip, *ip.teredo]
    if ip in _IPV4_COMPATIBLE and int(ip) > 0xFFFF:
        return [last]
    return [ip]


def _host_pattern(entry: str) -> tuple[str, int | None]:
    host, colon, port = entry.rpartition(":")
    if not colon or not host or not (port == "*" or (port.isdecimal() and 0 < int(port) < 65536)):
        raise ValueError(
            f"RELEVANCY_ENDPOINT_HOSTS: “{entry}” is neither host:port (such as solr.internal:8983 or *.search.lan:*) "
            "nor a network (such as 10.0.0.0/8)."
        )
    return host.strip("[]").lower(), None if port == "*" else int(port)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _read(url: str) -> Address:
    text = url.strip()
    # Looked for before anything is parsed or shown: “admin:secret@host” without a scheme parses as a path.
    if "@" in re.split(r"[/?#]", text.partition("://")[2] or text)[0]:
        raise EndpointUnreachable(
            "The endpoint's address contains a user name or password.",
            todo="Take it out of the address and enter it under the endpoint's credentials, where it is encrypted.",
        )
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise _unusable("The endpoint's address cannot be read as a URL.") from error
    problem = _problem(text, parts)
    if problem:
        raise _unusable(f"“{re.split('[?#]', text)[0]}” {problem}.")  # what follows may hold a key
    host = _ascii(parts.hostname or "", text)
    return Address(parts.scheme, host, port or _DEFAULT_PORTS[parts.scheme], parts.path.rstrip("/"))


def _problem(text: str, parts: SplitResult) -> str:
    if _STRANGE.search(text):
        return "contains white space, a backslash or a control character"
    if parts.scheme not in _DEFAULT_PORTS:
        return "does not begin with http:// or https://"
    if not parts.hostname:
        return "names no host"
    if parts.query or parts.fragment:
        return "has a part after “?” or “#”; parameters belong in the query template"
    if any(segment in (".", "..") for segment in parts.path.split("/")):
        return "contains “.” or “..” as a part of its path"
    return ""


def _ascii(host: str, url: str) -> str:
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError as error:
        raise _unusable(f"“{url}” holds a host name that is not valid.") from error


def _unusable(what: str) -> EndpointUnreachable:
    return EndpointUnreachable(what, todo="An address looks like https://search.example.com:8983/solr/products.")
