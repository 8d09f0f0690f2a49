"""The filter of an activity log."""

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from .entries import SERVER, EntryFilter, Log

ALL = ""


class DateInput(forms.DateInput):
    input_type = "date"

    def __init__(self) -> None:
        super().__init__(format="%Y-%m-%d")


class ActivityFilterForm(forms.Form):
    """Which entries are listed."""

    person = forms.TypedChoiceField(label="Who", required=False, coerce=int, empty_value=None)
    kind = forms.ChoiceField(label="What", required=False)
    since = forms.DateField(label="From", required=False, widget=DateInput())
    until = forms.DateField(label="To", required=False, widget=DateInput())

    def __init__(self, log: Log, data: QueryDict) -> None:
        super().__init__(data)
        people = [(user.pk, str(user)) for user in log.people()]
        self.fields["person"].choices = [(ALL, "Everyone"), *people, (0, SERVER)]  # type: ignore[attr-defined]
        self.fields["kind"].choices = [(ALL, "Everything"), *log.kinds]  # type: ignore[attr-defined]

    def clean(self) -> None:
        """Rejects a period that ends before it begins."""
        since, until = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        if since and until and until < since:
            raise ValidationError({"until": "The last day is before the first one. Choose a later day."})

    def entry_filter(self) -> EntryFilter:
        """Returns what was chosen; the form must be valid."""
        return EntryFilter(**self.cleaned_data)
