"""Names of indexes, cores and collections: which ones an address may contain, and which other ones a query may refer to."""

from __future__ import annotations

import re
from collections.abc import Collection

from .errors import BadQuery, EndpointUnreachable
from .transport.addresses import Address, decode_path

MAX_LENGTH = 255
# Begins with a letter or digit: names that begin with another character are system indexes, exclusions or APIs.
_PLAIN_NAME = re.compile(r"[^\W_][\w.+-]*")


def is_plain_name(name: str) -> bool:
    """Whether this is the name of one index: no wildcard, system index, `_all`, date expression or remote cluster."""
    return len(name) <= MAX_LENGTH and _PLAIN_NAME.fullmatch(name) is not None and ".." not in name


def plain_segments(address: Address, example: str) -> list[str]:
    """Returns the segments of an address's path. Raises `EndpointUnreachable` if one is encoded.

    Adapters build the paths of their requests from these, so what is checked is exactly what is sent.
    """
    if decode_path(address.path) != address.path:
        raise EndpointUnreachable(
            f"“{address}” contains encoded characters (%).",
            hint=f"Write the name of the index itself: an address looks like {example}.",
        )
    return [segment for segment in address.path.split("/") if segment]


def check_names(text: str, address: Address) -> None:
    """Checks the name of an index, or a comma-separated list of names. Raises `EndpointUnreachable` naming a wrong one."""
    for name in text.split(","):
        if not is_plain_name(name):
            raise EndpointUnreachable(
                f"“{name}” in “{address}” is not the name of an index, core or collection.",
                hint="Write names, separated by commas: no wildcards, no _all, no names that begin with . or _.",
            )


def check_prefix(segments: list[str], address: Address) -> None:
    """Checks the segments before the index, which belong to a proxy. Raises `EndpointUnreachable`."""
    for segment in segments:
        if not is_plain_name(segment):
            raise EndpointUnreachable(
                f"“{segment}” in “{address}” is not allowed before the name of the index.",
                hint="Relevancy sends searches only: enter the address of the index itself.",
            )


def check_reference(name: object, allowed: Collection[str], *, what: str) -> None:
    """Checks the name of an index that a query refers to. Raises `BadQuery` unless it is `allowed`.

    what: the part of the query that contains the name, for the message.
    """
    if isinstance(name, str) and name in allowed:
        return
    raise BadQuery(
        f"The query refers to another index: {what} is {str(name)[:100]!r}.",
        hint="Queries read only the index of their endpoint. An administrator can allow further indexes for the endpoint.",
    )
