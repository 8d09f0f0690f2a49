"""The other forms of scorers: the test bench, a file, the policy."""

from typing import Any

from django import forms

from relevancy import cases
from relevancy.models import Case, Scorer


class BenchForm(forms.Form):
    """What a scorer is tried on: typed grades, or a query of a case the user sees. `scorer` is not offered for comparing."""

    on = forms.ChoiceField(
        label="Try it on",
        choices=[("typed", "Typed grades"), ("query", "A real query")],
        initial="typed",
        widget=forms.RadioSelect,
    )
    grades = forms.CharField(
        label="Grades, in rank order",
        required=False,
        max_length=5_000,
        widget=forms.TextInput(attrs={"class": "mono"}),
        help_text="A dash is an unrated document.",
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
    primary = forms.BooleanField(label="Make it the primary scorer there", required=False)

    def __init__(self, user: Any, *args: Any, scorer: Scorer | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        seen_cases = Case.objects.visible_to(user).filter(archived_at=None).select_related("book")
        self.fields["case"].queryset = seen_cases  # type: ignore[attr-defined]
        others = Scorer.objects.visible_to(user).live().exclude(pk=scorer.pk if scorer else 0)
        self.fields["compare"].queryset = others  # type: ignore[attr-defined]
        self.scorer = scorer


class ScorerFileForm(forms.Form):
    file = forms.FileField(label="File", help_text="A scorer that was exported here: JSON.")
    name = forms.CharField(
        label="Name", required=False, max_length=cases.scorers.MAX_NAME, help_text="Empty: the name in the file."
    )


class PolicyForm(forms.Form):
    own_scripts = forms.BooleanField(
        label="Users may write scorer scripts of their own",
        required=False,
        help_text="Off: only admins make and change scripts. Those there are go on scoring.",
    )
    default = forms.ModelChoiceField(
        Scorer.objects.none(), label="A new case starts with", empty_label=None, help_text="Communal scorers only."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["default"].queryset = Scorer.objects.live().filter(owner=None, only_for=None)  # type: ignore[attr-defined]


class ReplaceForm(forms.Form):
    replacement = forms.ModelChoiceField(Scorer.objects.none(), label="Score them with", empty_label=None)

    def __init__(self, offered: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["replacement"].queryset = offered  # type: ignore[attr-defined]
