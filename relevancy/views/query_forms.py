"""The form of a query."""

from typing import Any

from django import forms

from relevancy.models import CaseQuery

from .answers import as_json


class QueryForm(forms.Form):
    """What can be said of a query. Whether it can be is decided by `cases.queries.edit`."""

    text = forms.CharField(max_length=4096, strip=True, widget=forms.TextInput(attrs={"autofocus": True}))
    information_need = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="What somebody who types this wants, so that raters agree.",
    )
    tags = forms.CharField(required=False, max_length=1200, help_text="Separated by commas.")
    notes = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))
    weight = forms.FloatField(min_value=0, initial=1, help_text="How much it counts in the case's score; usually 1.")
    options = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "class": "mono"}),
        help_text='JSON that the template reads as #$qOption.name##, such as {"lang": "en"}.',
    )

    @staticmethod
    def initial_of(entry: CaseQuery) -> dict[str, Any]:
        """What the form shows of a query."""
        query = entry.query
        return {
            "text": query.text,
            "information_need": query.information_need,
            "tags": ", ".join(query.tags),
            "notes": query.notes,
            "weight": entry.weight,
            "options": as_json(entry.options) if entry.options else "",
        }

    def values(self) -> dict[str, Any]:
        """The cleaned values as `cases.queries.edit` takes them."""
        return {**self.cleaned_data, "tags": self.cleaned_data["tags"].split(",")}
