"""Why something about a case was refused."""


class Refused(Exception):
    """Names the field that was wrong (`field`, empty for the whole) and says what to do about it; `line` and `column` from 1."""

    def __init__(self, message: str, *, field: str = "", line: int | None = None, column: int | None = None) -> None:
        self.field = field
        self.line = line
        self.column = column
        super().__init__(message)
