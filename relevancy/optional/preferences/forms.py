"""Forms of preference tests."""

from django import forms

from . import preferences

SIDES = ("left", "right", "tie", "cannot")


class NewTestForm(forms.Form):
    """How many queries raters compare."""

    queries = forms.IntegerField(
        label="Queries to compare",
        min_value=preferences.MIN_QUERIES,
        max_value=preferences.MAX_QUERIES,
        help_text="Raters see as many, or all that have different lists if these are fewer.",
    )


class ChoiceForm(forms.Form):
    """A rater's answer by the button that was pressed. key: of the lists on the page."""

    query = forms.IntegerField(min_value=1, max_value=2**31 - 1)
    side = forms.ChoiceField(
        choices=[(side, side) for side in SIDES],
        error_messages={"required": "Choose a list, “Equally good” or “Cannot judge”."},
    )
    key = forms.CharField(max_length=16)
