"""The form of the page on two raters."""

from urllib.parse import urlencode

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from relevancy.models import User
from relevancy.views.forms import FormData


class RaterPairForm(forms.Form):
    """Two raters, and the cell of their confusion matrix whose documents are listed."""

    first = forms.ModelChoiceField(queryset=User.objects.none())
    second = forms.ModelChoiceField(queryset=User.objects.none())
    grade_a = forms.FloatField(required=False)
    grade_b = forms.FloatField(required=False)

    def __init__(self, raters: QuerySet[User], data: FormData) -> None:
        super().__init__(data)
        for name in ("first", "second"):
            field = self.fields[name]
            assert isinstance(field, forms.ModelChoiceField)
            field.queryset = raters

    def clean(self) -> None:
        if self.cleaned_data.get("first") == self.cleaned_data.get("second"):
            raise ValidationError("Choose two raters.")

    @property
    def address(self) -> str:
        """The query string of the page, without the number of the page of documents."""
        chosen = self.cleaned_data
        values = {
            "first": chosen["first"].pk,
            "second": chosen["second"].pk,
            "grade_a": chosen["grade_a"],
            "grade_b": chosen["grade_b"],
        }
        return urlencode({name: value for name, value in values.items() if value is not None})
