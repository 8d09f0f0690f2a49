"""Every built-in measure with every choice of every parameter, and random batches of one query to try them on."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import strategies as st

from relevancy.scoring import Batch, Definition, Scale
from relevancy.scoring.registry import BUILT_IN

NUMBERS = {"p": ("0.3", "0.95"), "rel": ("0", "2")}


def variants(definition: Definition) -> list[str]:
    """All combinations of choices; numbers at their default and at two further values; with and without a cutoff."""
    options: list[list[str]] = []
    for parameter in definition.parameters:
        given = [choice for choice, _ in parameter.choices] or list(NUMBERS[parameter.name])
        options.append(([] if parameter.choices else [""]) + [f"{parameter.name}={value}" for value in given])
    cutoffs = {"optional": ("", "@1", "@4"), "required": ("@1", "@4"), "none": ("",)}[definition.cutoff]
    written = (",".join(filter(None, chosen)) for chosen in product(*options))
    return [f"{definition.name}({inside}){cutoff}" for inside, cutoff in product(written, cutoffs)]


MEASURES = sorted(text for definition in BUILT_IN for text in variants(definition))
SOME = st.integers(0, 15).map(lambda start: MEASURES[start::16])
"""Every sixteenth of them: making up a ranking takes longer than scoring it."""
SCALES = ("0:1", "0:3", "1:4", "1:10")


@st.composite
def batches(draw: st.DrawFn, least: int = 0) -> tuple[Batch, list[str], dict[str, float]]:
    """One query: repeats, unrated documents, known ones that are not returned, fractions; and what it was made of."""
    scale = Scale.parse(draw(st.sampled_from(SCALES)))
    grade = st.one_of(st.sampled_from(scale.grades), st.floats(scale.lowest, scale.top).map(lambda x: round(x, 2)))
    documents = [f"d{number}" for number in range(9)]
    known = draw(st.dictionaries(st.sampled_from([*documents, "e1", "e2", "e3"]), grade, max_size=9))
    ranking = draw(st.lists(st.sampled_from(documents), min_size=least, max_size=9))
    return Batch.build([ranking], [known], scale), ranking, known


def finite(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
