"""Forms of the scorer preview, scorer files, the site settings, and replacing a scorer."""

from django import forms
from django.db.models import QuerySet

from relevancy import scorers
from relevancy.models import Case, Policy, Scorer, User
from relevancy.views.forms import FormData, InitialValues


class PreviewForm(forms.Form):
    """What a scorer is previewed with: typed grades, or a query of a case the user sees. `scorer` is not offered for comparing."""

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
    find = forms.CharField(
        label="Find a query", required=False, max_length=2_048, widget=forms.TextInput(attrs={"type": "search"})
    )
    query = forms.IntegerField(required=False, widget=forms.HiddenInput)
    primary = forms.BooleanField(label="Make it the primary scorer of the case", required=False)

    def __init__(
        self,
        user: User,
        data: FormData | None = None,
        *,
        initial: InitialValues | None = None,
        scorer: Scorer | None = None,
    ) -> None:
        super().__init__(data, initial=initial)
        cases = Case.objects.visible_to(user).live().select_related("book")
        self.fields["case"] = forms.ModelChoiceField(cases, required=False, empty_label="Choose a case")
        others = Scorer.objects.visible_to(user).live().exclude(pk=scorer.pk if scorer else 0)
        self.fields["compare"] = forms.ModelChoiceField(
            others, label="Compare with", required=False, empty_label="Nothing"
        )
        self.scorer = scorer


class ScorerFileForm(forms.Form):
    file = forms.FileField(label="File", help_text="A JSON file exported from Relevancy.")
    name = forms.CharField(
        label="Name", required=False, max_length=scorers.MAX_NAME, help_text="Leave empty to use the name in the file."
    )


class PolicyForm(forms.ModelForm):
    default = forms.ModelChoiceField(
        Scorer.objects.live().filter(owner=None, only_for=None),
        label="Default scorer of new cases",
        empty_label=None,
        help_text="Only scorers available to all users.",
    )

    class Meta:
        model = Policy
        fields = ("allow_user_scripts",)
        labels = {"allow_user_scripts": "Users can write their own scorer scripts"}
        help_texts = {
            "allow_user_scripts": "If disabled, only admins can create and edit scripts. Existing scripts continue to score."
        }


class ReplaceForm(forms.Form):
    def __init__(self, available: QuerySet[Scorer], data: FormData | None = None) -> None:
        super().__init__(data)
        self.fields["replacement"] = forms.ModelChoiceField(available, label="Replace with", empty_label=None)
