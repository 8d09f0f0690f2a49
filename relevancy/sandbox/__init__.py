"""Runs scripts that users write, in V8, in child processes without files or network. No Django, no models.

`check` a script when it is saved, `score` many queries by it in one call. See `reference.REFERENCE` for what a script
can use.
"""

from .batch import check, score
from .depth import declared_depth
from .errors import SandboxError, ScriptError
from .pool import close
from .reference import REFERENCE, Entry
from .scored import Limits, Outcome, Scored

__all__ = [
    "REFERENCE",
    "Entry",
    "Limits",
    "Outcome",
    "SandboxError",
    "Scored",
    "ScriptError",
    "check",
    "close",
    "declared_depth",
    "score",
]
