"""The ranges of the sliders of knobs: settings of a case, which no request to an engine depends on."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction

from relevancy.models import Case

MAX_RANGES = 200


class KnobRange(NamedTuple):
    """The range of a slider: its lowest and highest value, and its step."""

    lowest: float
    highest: float
    step: float


def list_knob_ranges(case: Case) -> dict[str, KnobRange]:
    """Returns the ranges that were set, by the name of the knob."""
    return {name: KnobRange(*values) for name, values in case.knob_ranges.items()}


def set_knob_ranges(*, case: Case, ranges: Mapping[str, KnobRange | None]) -> None:
    """Sets the ranges of some knobs; None lets the slider fit the value of the knob again. The ranges of other knobs stay.

    Raises ValidationError, by the name of the knob, for a range that is empty and for a step that is 0 or does not fit into it.
    """
    errors = {
        name: problem
        for name, knob_range in ranges.items()
        if knob_range is not None and (problem := _find_problem(knob_range))
    }
    if errors:
        raise ValidationError(errors)
    with transaction.atomic():
        locked = Case.objects.select_for_update(no_key=True).only("knob_ranges").get(pk=case.pk)
        stored = {name: values for name, values in locked.knob_ranges.items() if name not in ranges}
        stored |= {name: list(knob_range) for name, knob_range in ranges.items() if knob_range is not None}
        if len(stored) > MAX_RANGES:
            raise ValidationError(f"A case keeps the ranges of at most {MAX_RANGES} knobs. Remove some.")
        Case.objects.filter(pk=case.pk).update(knob_ranges=stored)
    case.knob_ranges = stored


def _find_problem(knob_range: KnobRange) -> str:
    """Returns what is wrong with a range, in a sentence; empty if nothing is."""
    lowest, highest, step = knob_range
    if not all(map(math.isfinite, knob_range)):
        return "Enter numbers for the lowest and the highest value and the step."
    if highest <= lowest:
        return f"The highest value, {highest:g}, must be above the lowest, {lowest:g}."
    if not 0 < step <= highest - lowest:
        return f"The step, {step:g}, must be above 0 and at most {highest - lowest:g}, the length of the range."
    return ""
