"""Errors of scripts and of the processes they run in. The messages of the first two are written for users."""

from __future__ import annotations


class SandboxError(Exception):
    """Base class; raised itself if no child process is available."""

    line: int | None = None

    @property
    def sentence(self) -> str:
        """The message, after the line of the script if that is known."""
        line = f"Line {self.line}: " if self.line else ""
        return f"{line}{str(self).rstrip('.')}."


class ScriptError(SandboxError):
    """A script that cannot be compiled. `line` and `column` are positions in the script, from 1, or None."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


class ChildError(Exception):
    """A child process that has to be replaced. Never leaves the package."""


class ChildEnded(ChildError):
    """The child process has ended or sends invalid frames."""


class ChildTooSlow(ChildError):
    """The child process did not answer in time."""


class ChildTooBig(ChildError):
    """The child process uses more memory than any script may."""
