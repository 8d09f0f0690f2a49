"""The forms of a query. The services check what the forms cannot, such as whether the book already has the query."""

from typing import Any

from django import forms

from relevancy.models import CaseQuery
from relevancy.views.responses import pretty_json

INFORMATION_NEED_HELP = "What users who type this query are looking for, so that raters agree."


class QueryForm(forms.Form):
    """Everything about a query of a case."""

    text = forms.CharField(max_length=4096, strip=True, widget=forms.TextInput(attrs={"autofocus": True}))
    information_need = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 2}), help_text=INFORMATION_NEED_HELP
    )
    tags = forms.CharField(required=False, max_length=1200, help_text="Separated by commas.")
    notes = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))
    weight = forms.FloatField(
        min_value=0, initial=1, help_text="Its weight in the mean that is the case's score; usually 1."
    )
    options = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "class": "mono"}),
        help_text='JSON that the template reads as #$qOption.name##, such as {"lang": "en"}.',
    )

    @staticmethod
    def initial_values(case_query: CaseQuery) -> dict[str, Any]:
        """Returns the initial values of the form for a query."""
        query = case_query.query
        return {
            "text": query.text,
            "information_need": query.information_need,
            "tags": ", ".join(query.tags),
            "notes": query.notes,
            "weight": case_query.weight,
            "options": pretty_json(case_query.options) if case_query.options else "",
        }

    def values(self) -> dict[str, Any]:
        """Returns the cleaned values as `queries.edit` takes them."""
        return {**self.cleaned_data, "tags": self.cleaned_data["tags"].split(",")}


class NotesForm(forms.Form):
    """Information need and notes of a query."""

    information_need = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "autofocus": True}),
        help_text=INFORMATION_NEED_HELP,
    )
    notes = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 5}))
