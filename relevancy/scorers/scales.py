"""Rating scales as they are stored: grades with labels."""

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ValidationError

from relevancy import scoring

MAX_EXPONENTIAL_GRADE = 5  # on longer scales, 2^g − 1 leaves nothing of the lower grades


def parse_scale(text: str) -> list[list[float | str]]:
    """Returns `[[grade, label], …]`, ascending, from `1:10` or `0 Poor, 1 Fair, 2 Good`.

    Raises `ValidationError` for the field `scale` if the text is not a scale; see `scoring.parse_labelled_scale`.
    """
    try:
        return [[grade, label] for grade, label in scoring.parse_labelled_scale(text)]
    except scoring.ScaleError as error:
        raise ValidationError({"scale": str(error)}) from None


def scale_advice(*, measure: str, scale: Sequence[Sequence[Any]]) -> str:
    """Returns why a scale does not suit a measure with gains, and what to do; empty if it does, or if the measure has no gains.

    With a lowest grade above 0 every rated document gains. With 2^g − 1 and a long scale only the top grades count.
    Raises `ScoringError`.
    """
    parsed = scoring.parse_measure(measure)
    parameter = next((candidate for candidate in parsed.definition.parameters if candidate.name == "gain"), None)
    if parameter is None:
        return ""
    is_exponential = parsed.parameters.get("gain", parameter.default) == "exp"
    lowest, top = (float(scale[index][0]) for index in (0, -1))
    problems = []
    if lowest > 0:
        gain = 2**lowest - 1 if is_exponential else lowest
        problems.append(f"a document with the lowest grade, {lowest:g}, gains {gain:g}, although it is not relevant")
    if is_exponential and top > MAX_EXPONENTIAL_GRADE:
        problems.append(
            f"grade {top:g} gains {2**top - 1:,.0f}, twice as much as grade {top - 1:g}, so lower grades hardly count"
        )
    if not problems:
        return ""
    remedy = "a scale from 0, such as 0:3" if not is_exponential else "a scale from 0, such as 0:3, or the gain g"
    return f"This scale does not suit {parsed.definition.name}: {'; '.join(problems)}. Choose {remedy}."
