"""Finds how many results a script looks at, if it declares that: `const k = 10;` at its top level."""

from __future__ import annotations

import re
from itertools import islice

from .errors import ScriptError
from .scripts import check

MAX_TRIED = 20
# `k` with a whole number that ends its expression.
_ASSIGNED = re.compile(r"""(?<![\w$.])k\s*=\s*([1-9]\d{0,8})(?=\s*(?:[;,]|//|/\*|\Z)|[^\S\n]*\n\s*[\w"'`$])""")


def find_declared_depth(script: str) -> int | None:
    """Returns the whole number that a script assigns to `k` where it declares it (const, let or var); None if there is none.

    Only a number literal counts, not an expression such as `k = max / 2`, and only the scope of the script itself, not those of
    its blocks and functions. The script has to compile. Raises `SandboxError` if no child process is available.
    """
    if _declares_k(script):
        for assigned in islice(_ASSIGNED.finditer(script), MAX_TRIED):
            if not _declares_k(f"{script[: assigned.start()]}_{script[assigned.start() :]}"):
                return int(assigned[1])
    return None


def _declares_k(script: str) -> bool:
    """V8 tells a declaration from comments, texts and inner scopes: together with another one in the same scope it does not compile."""
    try:
        check(f"let k;\n{script}")
    except ScriptError as error:
        return "'k' has already been declared" in error.message
    return False
