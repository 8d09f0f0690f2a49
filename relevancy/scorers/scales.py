"""Rating scales as they are stored: grades with labels."""

from django.core.exceptions import ValidationError

from relevancy import scoring


def parse_scale(text: str) -> list[list[float | str]]:
    """Returns `[[grade, label], …]`, ascending, from `1:10` or `0 Poor, 1 Fair, 2 Good`.

    Raises `ValidationError` for the field `scale` if the text is not a scale; see `scoring.parse_labelled_scale`.
    """
    try:
        return [[grade, label] for grade, label in scoring.parse_labelled_scale(text)]
    except scoring.ScaleError as error:
        raise ValidationError({"scale": str(error)}) from None
