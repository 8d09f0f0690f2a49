"""What can go wrong with a script. The texts are meant for the user."""

from __future__ import annotations


class SandboxError(Exception):
    """Base of the family; itself: no child process could be had."""


class ScriptError(SandboxError):
    """A script that cannot be compiled. `line`, `column`: 1-based places in the user's own text, or None."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


class ChildEnded(Exception):
    """The child process is gone or talks nonsense. Never leaves the sandbox."""


class ChildTooSlow(Exception):
    """The child process did not answer in time. Never leaves the sandbox."""


class ChildTooBig(Exception):
    """The child process took more memory than any script may. Never leaves the sandbox."""
