"""What a run sent for a query, as people read it and repeat it in a shell."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from relevancy.views.responses import pretty_json

MAX_LINK_LENGTH = 8_000  # servers refuse longer ones
_LATE = (
    "hl",
    "fl",
    "rows",
    "start",
    "wt",
    "echoParams",
    "indent",
    "expandMacros",
)  # parameters of the adapter, not of the template


@dataclass(frozen=True)
class SentRequest:
    """A request without credentials.

    address: method and URL; empty if the engine has none.
    parameters: name and value, those of the template first.
    body: as JSON; empty if there are only parameters.
    url: the same request as one address; empty if that is impossible.
    curl: a command that sends it; empty if the engine has no address.
    """

    address: str = ""
    parameters: Sequence[tuple[str, str]] = field(default_factory=tuple)
    body: str = ""
    url: str = ""
    curl: str = ""

    @classmethod
    def of(cls, rendered: Mapping[str, Any]) -> "SentRequest":
        """Returns what `engine.render` returned, in parts."""
        url = rendered.get("url")
        if not isinstance(url, str):
            return cls(body=pretty_json(rendered))
        method, params = str(rendered.get("method", "POST")), rendered.get("params")
        if params is None:
            body = pretty_json(rendered.get("body"))
            return cls(f"{method} {url}", body=body, curl=_curl(url, [*_JSON, "--data-raw", body], method=method))
        parameters = sorted(
            ((str(name), str(value)) for name, value in params), key=lambda parameter: _is_late(parameter[0])
        )
        data = [part for name, value in parameters for part in ("--data-urlencode", f"{quote(name, safe='')}={value}")]
        as_url = f"{url}{'&' if '?' in url else '?'}{urlencode(parameters)}"
        return cls(
            f"{method} {url}",
            parameters,
            url=as_url if len(as_url) <= MAX_LINK_LENGTH else "",
            curl=_curl(url, data, method=method),
        )


_JSON = ("-H", "Content-Type: application/json")


def _is_late(name: str) -> bool:
    return name in _LATE or (name.startswith(("hl.", "f.")) and (name.startswith("hl.") or ".hl." in name))


def _curl(url: str, data: Sequence[str], *, method: str) -> str:
    """Returns a command for a POSIX shell, one option to a line. `data`: options and their values in turn."""
    options = ["--globoff"] if set(url) & set("[]{}") else []
    if method == "GET":
        options.append("--get")
    start = " ".join(["curl", *options, shlex.quote(url)])
    pairs = [f"{option} {shlex.quote(value)}" for option, value in zip(data[::2], data[1::2], strict=True)]
    return " \\\n  ".join([start, *pairs])
