"""Why something about a case was refused."""


class Refused(Exception):
    """Names the field that was wrong (`field`, empty for the whole) and says what to do about it."""

    def __init__(self, message: str, *, field: str = "") -> None:
        self.field = field
        super().__init__(message)
