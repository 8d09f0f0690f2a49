"""Every built-in measure with every choice of every parameter, and random batches of one query."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import strategies as st

from relevancy.scoring import Batch, Definition, Scale
from relevancy.scoring.registry import BUILT_IN

NUMBERS = {"p": ("0.3", "0.95"), "rel": ("0", "2")}


def list_variants(definition: Definition) -> list[str]:
    """All combinations of choices; numbers at their default and at two other values; with and without a cutoff."""
    options: list[list[str]] = []
    for parameter in definition.parameters:
        values = [choice for choice, _ in parameter.choices] or list(NUMBERS[parameter.name])
        options.append(([] if parameter.choices else [""]) + [f"{parameter.name}={value}" for value in values])
    cutoffs = {"optional": ("", "@1", "@4"), "required": ("@1", "@4"), "none": ("",)}[definition.cutoff]
    parameters = (",".join(filter(None, combination)) for combination in product(*options))
    return [f"{definition.name}({text}){cutoff}" for text, cutoff in product(parameters, cutoffs)]


MEASURES = sorted(text for definition in BUILT_IN for text in list_variants(definition))
SOME_MEASURES = st.integers(0, 15).map(lambda start: MEASURES[start::16])
"""A sixteenth of the measures: generating a ranking takes longer than scoring it."""
SCALES = ("0:1", "0:3", "1:4", "1:10")


@st.composite
def single_query_batches(draw: st.DrawFn, min_results: int = 0) -> tuple[Batch, list[str], dict[str, float]]:
    """(batch, ranking, known grades) of one query, with repeats, unrated and unretrieved documents and fractions."""
    scale = Scale.parse(draw(st.sampled_from(SCALES)))
    grade = st.one_of(st.sampled_from(scale.grades), st.floats(scale.lowest, scale.top).map(lambda x: round(x, 2)))
    documents = [f"d{number}" for number in range(9)]
    known = draw(st.dictionaries(st.sampled_from([*documents, "e1", "e2", "e3"]), grade, max_size=9))
    ranking = draw(st.lists(st.sampled_from(documents), min_size=min_results, max_size=9))
    return Batch.build([ranking], [known], scale), ranking, known


def to_optional(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
