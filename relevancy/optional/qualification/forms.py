"""Forms of the qualification of raters."""

from django import forms

from .models import QualificationRule
from .qualification import MAX_PAIRS


class QualificationForm(forms.ModelForm):
    """Whether new raters have to qualify, and how."""

    class Meta:
        model = QualificationRule
        fields = ["share", "distance"]
        labels = {"share": "Agreement needed, in per cent", "distance": "Grades agree if they differ by at most"}
        help_texts = {
            "share": "Empty: ratings of new raters count at once.",
            "distance": "0: only the same grade agrees with the key.",
        }


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

    value = forms.FloatField()
