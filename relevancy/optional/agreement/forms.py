"""The form of the page on two raters."""

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
