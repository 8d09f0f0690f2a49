"""Forms of books."""

from django import forms

from relevancy.models import JudgingQueue
from relevancy.models.judging import MAX_DEPTH, MAX_RATINGS
from relevancy.views.forms import MultilineField


class BookSettingsForm(forms.Form):
    """What is judged in a book and in which order, and the guidelines for raters."""

    ratings_per_pair = forms.IntegerField(
        label="Ratings per document",
        min_value=1,
        max_value=MAX_RATINGS,
        help_text="How many raters rate each document.",
    )
    depth = forms.IntegerField(
        label="Results per query",
        min_value=1,
        max_value=MAX_DEPTH,
        help_text="So many of the first results are judged, in the newest complete run of each case.",
    )
    order = forms.ChoiceField(
        choices=JudgingQueue.Order,
        help_text="Every document gets its first rating before any gets a second one; this decides between the others.",
    )
    guidelines = MultilineField(
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 10}),
        help_text="What each grade means, in Markdown. Raters see it beside each document.",
    )


class BookFileForm(forms.Form):
    """A file with a whole book."""

    file = forms.FileField(
        label="File",
        help_text="A book that Quepid exported, as JSON or ZIP.",
        error_messages={"required": "Choose a file."},
        widget=forms.FileInput(attrs={"accept": ".json,.zip,application/json,application/zip"}),
    )
