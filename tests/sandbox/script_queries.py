"""Builds queries for scripts from grades, and runs scripts over them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from relevancy.sandbox import Limits, Outcome, ScriptQuery, score

Grades = Sequence[float | None]
SHORT = Limits(seconds_per_query=0.3, seconds_per_batch=60)


def build_query(grades: Grades, unretrieved: Sequence[float] = (), text: str = "shoes", **fields: Any) -> ScriptQuery:
    """Documents d0, d1, … with a title; `unretrieved`: grades of documents x0, x1, … that were not returned."""
    docs = [{"id": f"d{index}", "title": f"Title {index}"} for index in range(len(grades))]
    known = {f"d{index}": grade for index, grade in enumerate(grades) if grade is not None}
    known |= {f"x{index}": grade for index, grade in enumerate(unretrieved)}
    return ScriptQuery(text, docs, grades, known, **fields)


def run(
    script: str, queries: Sequence[ScriptQuery], scale: Sequence[float] = (0, 1, 2, 3), **options: Any
) -> list[Outcome]:
    return score(script, queries, **{"scale": scale, "depth": 10, **options})


def run_one(script: str, grades: Grades = (3, None, 1), unretrieved: Sequence[float] = (2,), **options: Any) -> Outcome:
    (outcome,) = run(script, [build_query(grades, unretrieved)], **options)
    return outcome


def evaluate(
    expression: str, grades: Grades = (3, None, 1), unretrieved: Sequence[float] = (2,), **options: Any
) -> str:
    """The value of an expression as JSON."""
    script = f"console.log(JSON.stringify({expression})); setScore(1)"
    outcome = run_one(script, grades, unretrieved, console=True, **options)
    assert outcome.error == "", outcome
    return outcome.console[0]


def random_rankings(seed: int, count: int, top: int) -> Iterator[tuple[Grades, list[float]]]:
    """Random (grades, unretrieved grades) with at least one result; grades from 0 to top or unrated."""
    generator = random.Random(seed)
    for _ in range(count):
        length = generator.randint(1, 14)
        grades = [generator.choice([None, *range(top + 1)]) for _ in range(length)]
        yield grades, [generator.randint(0, top) for _ in range(generator.randint(0, 5))]


def assert_same_scores(outcomes: Sequence[Outcome], expected: Sequence[float | None]) -> None:
    """The scores are equal within rounding, and None where `expected` is."""
    for number, (outcome, other) in enumerate(zip(outcomes, expected, strict=True)):
        assert outcome.error == "", (number, outcome)
        assert (outcome.score is None) == (other is None), (number, outcome, other)
        if outcome.score is not None and other is not None:
            assert abs(outcome.score - other) < 1e-6, (number, outcome, other)
