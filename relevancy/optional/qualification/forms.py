"""Forms of the qualification of raters."""

from django import forms

from .qualification import MAX_PAIRS


class QualificationForm(forms.Form):
    """Whether new raters have to qualify, and how."""

    share = forms.IntegerField(
        label="Agreement needed, in per cent",
        required=False,
        min_value=1,
        max_value=100,
        help_text="Empty: ratings of new raters count at once.",
    )
    distance = forms.FloatField(
        label="Grades agree if they differ by at most",
        min_value=0,
        max_value=1_000_000,
        help_text="0: only the same grade agrees with the key.",
    )


class DrawForm(forms.Form):
    """How many documents are added to the qualification set."""

    count = forms.IntegerField(
        label="Documents",
        min_value=1,
        max_value=MAX_PAIRS,
        initial=20,
        help_text="Drawn from the rated documents of the judging queue, evenly over the grades; decided and agreed ones first.",
    )


class KeyForm(forms.Form):
    """The right grade of a document of the qualification set."""

    pair = forms.IntegerField(min_value=1, max_value=2**31 - 1)
    value = forms.FloatField()
