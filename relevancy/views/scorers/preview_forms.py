"""Forms of the scorer preview, scorer files, the policy, and replacing a scorer."""

from typing import Any

from django import forms
from django.db.models import QuerySet

from relevancy import scorers
from relevancy.models import Case, Scorer, User


def _set_queryset(form: forms.Form, name: str, queryset: QuerySet[Case] | QuerySet[Scorer]) -> None:
    field = form.fields[name]
    assert isinstance(field, forms.ModelChoiceField)
    field.queryset = queryset


class PreviewForm(forms.Form):
    """What a scorer is preview on: typed grades, or a query of a case the user sees. `scorer` is not offered for comparing."""

    on = forms.ChoiceField(
        label="Preview with",
        choices=[("typed", "Typed grades"), ("query", "A real query")],
        initial="typed",
        widget=forms.RadioSelect,
    )
    grades = forms.CharField(
        label="Grades, in rank order",
        required=False,
        max_length=5_000,
        widget=forms.TextInput(attrs={"class": "mono"}),
        help_text="Enter - for an unrated document.",
    )
    known = forms.CharField(
        label="Also rated, not returned",
        required=False,
        max_length=5_000,
        widget=forms.TextInput(attrs={"class": "mono", "placeholder": "none"}),
    )
    case = forms.ModelChoiceField(Case.objects.none(), required=False, empty_label="Choose a case")
    find = forms.CharField(
        label="Find a query", required=False, max_length=2_048, widget=forms.TextInput(attrs={"type": "search"})
    )
    query = forms.IntegerField(required=False, widget=forms.HiddenInput)
    compare = forms.ModelChoiceField(Scorer.objects.none(), label="Compare with", required=False, empty_label="Nothing")
    primary = forms.BooleanField(label="Make it the primary scorer of the case", required=False)

    def __init__(self, user: User, *args: Any, scorer: Scorer | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cases = Case.objects.visible_to(user).filter(archived_at=None).select_related("book")
        _set_queryset(self, "case", cases)
        others = Scorer.objects.visible_to(user).live().exclude(pk=scorer.pk if scorer else 0)
        _set_queryset(self, "compare", others)
        self.scorer = scorer


class ScorerFileForm(forms.Form):
    file = forms.FileField(label="File", help_text="A JSON file exported from Relevancy.")
    name = forms.CharField(
        label="Name", required=False, max_length=scorers.MAX_NAME, help_text="Leave empty to use the name in the file."
    )


class PolicyForm(forms.Form):
    allow_user_scripts = forms.BooleanField(
        label="Users can write their own scorer scripts",
        required=False,
        help_text="If disabled, only admins can create and edit scripts. Existing scripts continue to score.",
    )
    default = forms.ModelChoiceField(
        Scorer.objects.none(),
        label="Default scorer of new cases",
        empty_label=None,
        help_text="Only scorers available to all users.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _set_queryset(self, "default", Scorer.objects.live().filter(owner=None, only_for=None))


class ReplaceForm(forms.Form):
    replacement = forms.ModelChoiceField(Scorer.objects.none(), label="Replace with", empty_label=None)

    def __init__(self, offered: QuerySet[Scorer], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _set_queryset(self, "replacement", offered)
