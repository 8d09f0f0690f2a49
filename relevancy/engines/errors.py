"""What can go wrong when a search engine is asked. Every message says what happened and what to do about it."""


class EngineError(Exception):
    """Base of the family. `str(error)` is the whole message for a person; `kind` is the short word stored with a run."""

    kind = "error"

    def __init__(self, what: str, *, todo: str = "", status: int | None = None) -> None:
        self.what = what
        self.todo = todo
        self.status = status
        super().__init__(f"{what} {todo}".strip())


class EndpointUnreachable(EngineError):
    """Nothing answered: wrong host or port, engine down, name unknown, address not allowed."""

    kind = "unreachable"


class EndpointRefused(EngineError):
    """The engine answered 401 or 403."""

    kind = "refused"


class BadQuery(EngineError):
    """The engine understood who asks but not what: its own message is part of `what`."""

    kind = "bad query"


class UnreadableAnswer(EngineError):
    """An answer that is no search result: HTML, a redirect, other JSON, more than 20 MB, a hit without its id field."""

    kind = "unreadable"


class TooSlow(EngineError):
    """No answer within the time-out."""

    kind = "too slow"


class TemplateError(EngineError):
    """A query template or field specification that cannot be used; `line` and `column` count from 1."""

    kind = "template"

    def __init__(self, what: str, *, line: int = 1, column: int = 1, todo: str = "") -> None:
        self.line = line
        self.column = column
        super().__init__(f"Line {line}, column {column}: {what}", todo=todo)


class UnknownEngine(EngineError):
    """No adapter is registered under this key."""

    kind = "unknown engine"
