"""Errors of search engines. Every message says what is wrong, then what to do about it."""

_HALF = 990  # characters kept of each end of a long message: what an engine sends may say only at its end what is wrong


class EngineError(Exception):
    """Base of all errors that engines raise. `str(error)` is the whole message.

    `problem`: what is wrong, with the value.
    `hint`: what to do about it; may be empty.
    `status`: HTTP status of the response, None if there was none.
    `kind`: short name that is stored with a run.
    """

    kind = "error"

    def __init__(self, problem: str, *, hint: str = "", status: int | None = None) -> None:
        self.problem = problem if len(problem) <= 2 * _HALF else f"{problem[:_HALF]} … {problem[-_HALF:]}"
        self.hint = hint
        self.status = status
        super().__init__(f"{self.problem} {hint}".strip())


class EndpointUnreachable(EngineError):
    """No connection: wrong host or port, engine down, unknown host name, address not allowed."""

    kind = "unreachable"


class EndpointRefused(EngineError):
    """The engine responded with status 401 or 403."""

    kind = "refused"


class BadQuery(EngineError):
    """The engine rejected the query. `problem` contains the engine's own message."""

    kind = "bad query"


class QueryMissing(EngineError):
    """The engine has no ranking of the query: an empty one would say that the search found nothing."""

    kind = "missing"


class UnreadableResponse(EngineError):
    """The response is not a search result: HTML, a redirect, unexpected JSON, more than 20 MB, or a hit without an id."""

    kind = "unreadable"


class TooSlow(EngineError):
    """No response within the time-out."""

    kind = "too slow"


CONNECTION_ERRORS = (EndpointUnreachable, EndpointRefused, TooSlow)  # which say nothing of the search that had them


class RequestAborted(EngineError):
    """The request was ended on this side, because its run was stopped. It says nothing about the engine."""

    kind = "aborted"


class TemplateError(EngineError):
    """A query template or field specification is invalid. `line` and `column` count from 1."""

    kind = "template"

    def __init__(self, problem: str, *, line: int = 1, column: int = 1, hint: str = "") -> None:
        self.line = line
        self.column = column
        super().__init__(f"Line {line}, column {column}: {problem}", hint=hint)


class OptionError(EngineError):
    """An option of an endpoint is invalid. `option`: its name; `column` counts from 1, 0 means the option as a whole."""

    kind = "option"

    def __init__(self, option: str, problem: str, *, column: int = 0, hint: str = "") -> None:
        self.option = option
        self.column = column
        location = f"column {column}: " if column else ""
        super().__init__(f"The option {option}: {location}{problem}", hint=hint)


class UnsupportedByEngine(EngineError):
    """The engine lacks the ability that was asked for, such as explaining a score."""

    kind = "unsupported"


class InvalidEngine(Exception):
    """An installed package provides an engine that cannot be used. Relevancy does not start."""


class UnknownEngine(EngineError):
    """No adapter is registered under this key: it is misspelled, or its package was uninstalled."""

    kind = "unknown engine"
