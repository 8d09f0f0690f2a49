"""The input and the output of a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Limits:
    """The resources that a script can use.

    Attributes:
        seconds_per_query: the time for one query.
        seconds_per_batch: the time for all queries of a call.
        stops: for how many queries of a call the script can be stopped; then it is switched off, and the others are not scored.
        megabytes: the memory for JavaScript values.
        console_characters: how much console output of a query is kept.
        resident_megabytes: the memory of the whole child process, V8 and Python included; above it the child is killed.
    """

    seconds_per_query: float = 1.0
    seconds_per_batch: float = 30.0
    stops: int = 3
    megabytes: int = 64
    console_characters: int = 10_000
    resident_megabytes: int = 512


@dataclass(frozen=True)
class ScriptQuery:
    """What a script gets for one query.

    Attributes:
        text: the query.
        docs: the displayed fields of the returned documents in rank order, each with its "id".
        ratings: the grades of these documents on the script's scale; None for unrated ones.
        known: the grades of all rated documents of the query, by id.
        total: the number of documents that the engine found; None for the number returned.
        options: the options of the query.
    """

    text: str
    docs: Sequence[Mapping[str, Any]]
    ratings: Sequence[float | None]
    known: Mapping[str, float] | Sequence[tuple[str, float]] = field(default_factory=dict)
    total: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What a script returned for one query.

    Attributes:
        score: 0 to 100; None if the query is not scoreable ("–") or if there is an error.
        error: a message for the user, which starts with the line if that is known; "" for none.
        line: the line of the error, from 1.
        console: the console output, if it was asked for.
        seconds: the time that the script took.
        stopped: why the script was stopped ("time", "memory", or "ended": it ended the process), or "off" if it was not run for
            this query because it had been stopped too often; "" otherwise.
    """

    score: float | None = None
    error: str = ""
    line: int | None = None
    console: tuple[str, ...] = ()
    seconds: float = 0.0
    stopped: str = ""


@dataclass(frozen=True)
class MappedResponse:
    """What a mapper script found in a response.

    Attributes:
        documents: what `docsMapper` returned, at most 1,000 values of any kind.
        total: what `numberOfResultsMapper` returned; None if the script has no such function, or it returned nothing.
        error: a message for the user, which starts with the line if that is known; "" for none.
        line: the line of the error, from 1.
        console: the console output, if it was asked for.
        seconds: the time that the script took.
        stopped: why the script was stopped ("time", "memory", or "ended"); "" if it was not.
    """

    documents: tuple[Any, ...] = ()
    total: float | None = None
    error: str = ""
    line: int | None = None
    console: tuple[str, ...] = ()
    seconds: float = 0.0
    stopped: str = ""
