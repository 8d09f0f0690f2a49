"""Which network addresses may be contacted. Every address of a host name is checked at the moment of connecting."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import SplitResult, unquote, urlsplit

from relevancy.engines.errors import EndpointUnreachable

Ip = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Resolver = Callable[[str, int], list[str]]

# Cloud providers serve machine credentials here. Only the first one is link-local; the others look like any address.
_METADATA = frozenset(
    ip_address(text)
    for text in ("169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254")
)
_THIS_NETWORK = ip_network("0.0.0.0/8")
_NAT64 = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"))
_IPV4_COMPATIBLE = ip_network("::/96")
# Site-local addresses of RFC 3513: deprecated, but routers and hosts still use them for private networks.
_SITE_LOCAL = ip_network("fec0::/10")
_DEFAULT_PORTS = {"http": 80, "https": 443}
# Characters that browsers and libraries interpret differently.
_AMBIGUOUS = re.compile(r"[\x00-\x20\x7f\\]")
_MAX_DECODINGS = 10


@dataclass(frozen=True)
class Address:
    """A parsed URL. `host` is lower-case ASCII without brackets; `path` does not end with a slash."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def base(self) -> str:
        """Scheme, host and port, as messages show them."""
        return f"{self.scheme}://{_bracketed(self.host)}:{self.port}"

    def __str__(self) -> str:
        return self.base + self.path


def system_resolver(host: str, port: int) -> list[str]:
    """Returns every address of a host name in the system's order of preference. Raises `OSError` for an unknown name."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


@dataclass(frozen=True)
class AddressRules:
    """Allows public addresses; loopback and private ones only where configured; some never, see `forbidden_reason`.

    `private_allowed`: allows every private address (debug, demo).
    `hosts`: (host pattern, port or None) whose private addresses are allowed.
    `networks`: private ranges that are allowed.

    No setting allows link-local, metadata, unspecified or multicast addresses.
    """

    private_allowed: bool = False
    hosts: tuple[tuple[str, int | None], ...] = ()
    networks: tuple[Network, ...] = ()
    resolver: Resolver = field(default=system_resolver, repr=False, compare=False)

    @classmethod
    def parse(cls, text: str, *, private_allowed: bool = False) -> AddressRules:
        """Parses `RELEVANCY_ENDPOINT_HOSTS`, entries separated by commas or white space.

        An entry is a `host:port` pattern (`*` is allowed, also as port) or a network (CIDR, or one address). Raises
        `ValueError` naming an invalid entry.
        """
        hosts: list[tuple[str, int | None]] = []
        networks: list[Network] = []
        for entry in re.split(r"[\s,]+", text.strip()):
            if not entry:
                continue
            try:
                networks.append(ip_network(entry))
            except ValueError:
                hosts.append(_parse_host_pattern(entry))
        return cls(private_allowed=private_allowed, hosts=tuple(hosts), networks=tuple(networks))

    def parse_url(self, url: str) -> Address:
        """Parses a URL without contacting any host. Raises `EndpointUnreachable` saying what is wrong with it."""
        text = url.strip()
        # Checked before anything is parsed or shown: “admin:secret@host” without a scheme parses as a path.
        if "@" in re.split(r"[/?#]", text.partition("://")[2] or text)[0]:
            raise EndpointUnreachable(
                "The endpoint's address contains a user name or password.",
                hint="Remove it from the address and enter it under the endpoint's credentials, where it is encrypted.",
            )
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError as error:
            raise _invalid("The endpoint's address is not a valid URL.") from error
        problem = _url_problem(text, parts)
        if problem:
            raise _invalid(f"“{re.split('[?#]', text)[0]}” {problem}.")  # the rest may contain a key
        host = _to_ascii(parts.hostname or "", text)
        return Address(parts.scheme, host, port or _DEFAULT_PORTS[parts.scheme], parts.path.rstrip("/"))

    def check(self, url: str) -> Address:
        """Parses a URL, resolves its host and checks every address. Raises `EndpointUnreachable`."""
        address = self.parse_url(url)
        self.resolve(address.host, address.port)
        return address

    def resolve(self, host: str, port: int) -> list[str]:
        """Returns the addresses of a host, all of which are allowed.

        One forbidden address forbids the host, because a later connection could use any of them. Raises
        `EndpointUnreachable`.
        """
        try:
            addresses = self.resolver(host, port)
        except (OSError, UnicodeError) as error:
            raise EndpointUnreachable(
                f"The host name “{host}” could not be resolved.", hint="Check the endpoint's address for a typo."
            ) from error
        for text in addresses:
            self._check_ip(host, port, ip_address(text.partition("%")[0]))
        return addresses

    def _check_ip(self, host: str, port: int, ip: Ip) -> None:
        for target in _reachable_addresses(ip):
            name = host if host == str(target) else f"{host} ({target})"
            reason = forbidden_reason(target)
            if reason:
                raise EndpointUnreachable(
                    f"{name} is {reason}, which is never contacted.",
                    hint="Use the address of the search engine itself.",
                )
            is_public = target.is_global and target not in _SITE_LOCAL
            if not is_public and not self._is_private_allowed(host, port, target):
                raise EndpointUnreachable(
                    f"{name}, port {port}, is a private address, which this installation does not allow.",
                    hint=f"An administrator can allow it: add {_bracketed(host)}:{port} to RELEVANCY_ENDPOINT_HOSTS.",
                )

    def _is_private_allowed(self, host: str, port: int, ip: Ip) -> bool:
        if self.private_allowed or any(ip in network for network in self.networks):
            return True
        return any(fnmatchcase(host, pattern) and allowed_port in (None, port) for pattern, allowed_port in self.hosts)


def forbidden_reason(ip: Ip) -> str:
    """Returns what kind of address is never contacted, such as “a link-local address”; empty for any other address."""
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


def _reachable_addresses(ip: Ip) -> list[Ip]:
    """Returns the address, or the IPv4 addresses that a translated IPv6 address leads to (mapped, NAT64, 6to4, Teredo)."""
    if isinstance(ip, IPv4Address):
        return [ip]
    if ip.ipv4_mapped:
        return [ip.ipv4_mapped]
    last_32_bits = IPv4Address(int(ip) & 0xFFFFFFFF)
    if any(ip in network for network in _NAT64):
        return [last_32_bits]
    if ip.sixtofour:
        return [ip, ip.sixtofour]
    if ip.teredo:
        return [ip, *ip.teredo]
    if ip in _IPV4_COMPATIBLE and int(ip) > 0xFFFF:
        return [last_32_bits]
    return [ip]


def _parse_host_pattern(entry: str) -> tuple[str, int | None]:
    host, colon, port = entry.rpartition(":")
    if not colon or not host or not (port == "*" or (port.isdecimal() and 0 < int(port) < 65536)):
        raise ValueError(
            f"RELEVANCY_ENDPOINT_HOSTS: “{entry}” is neither host:port (such as solr.internal:8983 or *.search.lan:*) "
            "nor a network (such as 10.0.0.0/8)."
        )
    return host.strip("[]").lower(), None if port == "*" else int(port)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _url_problem(text: str, parts: SplitResult) -> str:
    if _AMBIGUOUS.search(text):
        return "contains white space, a backslash or a control character"
    if parts.scheme not in _DEFAULT_PORTS:
        return "does not begin with http:// or https://"
    if not parts.hostname:
        return "names no host"
    if parts.query or parts.fragment:
        return "has a part after “?” or “#”; parameters belong in the query template"
    return path_problem(parts.path)


def decode_path(path: str) -> str | None:
    """Returns a path without percent-encoding, however often it was encoded; None if that never ends."""
    for _ in range(_MAX_DECODINGS):
        decoded = unquote(path)
        if decoded == path:
            return path
        path = decoded
    return None


def path_problem(path: str) -> str:
    """Returns why a server could read a path differently from what it looks like; an empty string if it could not."""
    decoded = decode_path(path)
    if decoded is None or decoded.count("/") != path.count("/"):
        return "contains an encoded “/”, or is encoded several times"
    if _AMBIGUOUS.search(decoded.replace(" ", "")):
        return "contains an encoded backslash or control character"
    if ";" in decoded or "?" in decoded or "#" in decoded:
        return "contains “;”, or an encoded “?” or “#”"  # some servers ignore what follows a semicolon in a segment
    if any(segment in (".", "..") for segment in decoded.split("/")):
        return "contains “.” or “..” as a part of its path"
    return ""


def _to_ascii(host: str, url: str) -> str:
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError as error:
        raise _invalid(f"The host name in “{url}” is not valid.") from error


def _invalid(problem: str) -> EndpointUnreachable:
    return EndpointUnreachable(problem, hint="An address looks like https://search.example.com:8983/solr/products.")
