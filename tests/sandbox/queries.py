"""Queries for scripts, from typed grades."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from relevancy.sandbox import Limits, Outcome, Scored, score

Grades = Sequence[float | None]
SHORT = Limits(seconds_per_query=0.3, seconds_per_batch=60)


def query(grades: Grades, extra: Sequence[float] = (), text: str = "shoes", **more: Any) -> Scored:
    """Documents d0, d1, … with a title; `extra`: grades of documents x0, x1, … that were not returned."""
    docs = [{"id": f"d{place}", "title": f"Title {place}"} for place in range(len(grades))]
    known = {f"d{place}": grade for place, grade in enumerate(grades) if grade is not None}
    known |= {f"x{place}": grade for place, grade in enumerate(extra)}
    return Scored(text, docs, grades, known, **more)


def run(script: str, queries: Sequence[Scored], scale: Sequence[float] = (0, 1, 2, 3), **more: Any) -> list[Outcome]:
    return score(script, queries, **{"scale": scale, "shown": 10, **more})


def one(script: str, grades: Grades = (3, None, 1), extra: Sequence[float] = (2,), **more: Any) -> Outcome:
    (outcome,) = run(script, [query(grades, extra)], **more)
    return outcome


def value(expression: str, grades: Grades = (3, None, 1), extra: Sequence[float] = (2,), **more: Any) -> str:
    """What an expression gives, as the console shows it."""
    outcome = one(f"console.log(JSON.stringify({expression})); setScore(1)", grades, extra, console=True, **more)
    assert outcome.error == "", outcome
    return outcome.console[0]


def rankings(seed: int, count: int, top: int) -> Iterator[tuple[Grades, list[float]]]:
    """Random (grades, extra) with at least one result; grades 0…top or unrated."""

    chance = random.Random(seed)
    for _ in range(count):
        length = chance.randint(1, 14)
        grades = [chance.choice([None, *range(top + 1)]) for _ in range(length)]
        yield grades, [chance.randint(0, top) for _ in range(chance.randint(0, 5))]


def scored_alike(outcomes: Sequence[Outcome], expected: Sequence[float | None]) -> None:
    """Equal within rounding, "–" where expected is None."""
    for number, (outcome, other) in enumerate(zip(outcomes, expected, strict=True)):
        assert outcome.error == "", (number, outcome)
        assert (outcome.score is None) == (other is None), (number, outcome, other)
        if outcome.score is not None and other is not None:
            assert abs(outcome.score - other) < 1e-6, (number, outcome, other)
