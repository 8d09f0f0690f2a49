"""What goes into a script and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Limits:
    """What a script may use up. `megabytes`: of JavaScript values; `console_characters`: kept for each query.

    `resident_megabytes`: of the whole child process, V8 and Python included; above it the child is killed.
    """

    seconds_per_query: float = 1.0
    seconds_per_batch: float = 30.0
    megabytes: int = 64
    console_characters: int = 10_000
    resident_megabytes: int = 512


@dataclass(frozen=True)
class Scored:
    """What a script sees of one query.

    `docs`: the displayed fields of each returned document, in rank order, each with its "id". `ratings`: the grade of
    each of them on the script's scale, None = unrated. `known`: the grades of all rated documents of the query.
    `total`: how many documents the engine found; None: as many as were returned.
    """

    text: str
    docs: Sequence[Mapping[str, Any]]
    ratings: Sequence[float | None]
    known: Mapping[str, float] | Sequence[tuple[str, float]] = field(default_factory=dict)
    total: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What a script made of one query.

    `score`: 0…100, None where the query cannot be scored ("–") or where there is an `error`, a readable text that
    begins with its line where that is known. `console`: what the script wrote, where it was asked for.
    """

    score: float | None
    error: str = ""
    line: int | None = None
    console: tuple[str, ...] = ()
    seconds: float = 0.0
