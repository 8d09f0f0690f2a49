"""What is wrong with a file."""


class BadFile(Exception):
    """Names the line (from 1), the column and the value; nothing of the file was taken over."""

    def __init__(self, message: str, *, line: int | None = None) -> None:
        self.line = line
        super().__init__(f"Line {line}: {message}" if line else message)
