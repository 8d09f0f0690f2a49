"""Runs JavaScript written by users in V8, in child processes without access to files or the network.

No Django, no models. `check` a script when it is saved; `score` many queries with it in one call, or
`map_response` of a search API. `REFERENCE` lists what
a script can use.

See docs/decisions/0014.
"""

from .depth import find_declared_depth
from .errors import SandboxError, ScriptError
from .pool import close
from .reference import REFERENCE
from .scripts import check, map_response, score
from .types import Limits, MappedResponse, Outcome, ScriptQuery

__all__ = [
    "REFERENCE",
    "Limits",
    "MappedResponse",
    "Outcome",
    "SandboxError",
    "ScriptError",
    "ScriptQuery",
    "check",
    "close",
    "find_declared_depth",
    "map_response",
    "score",
]
