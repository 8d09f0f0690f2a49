"""The forms of groups of cases."""

from typing import Any

from django import forms
from django.db.models import QuerySet

from relevancy.models import Case, Team, User
from relevancy.views.forms import FormData

from .models import CaseGroup


class GroupForm(forms.ModelForm):
    """The name of a group and what counts the same in its mean; for its owners also the teams that it is shared with."""

    class Meta:
        model = CaseGroup
        fields = ["name", "weighting", "teams"]
        labels = {"weighting": "Mean", "teams": "Share with"}
        help_texts = {
            "weighting": "With queries, a case with many of them counts more.",
            "teams": "Members see the group with those of its cases that they may see anyway.",
        }
        widgets = {"teams": forms.CheckboxSelectMultiple}

    def __init__(self, user: User, data: FormData | None = None, **options: Any) -> None:
        super().__init__(data, **options)
        teams = Team.objects.shareable_by(user).order_by("name")
        fields: dict[str, Any] = self.fields
        fields["teams"].queryset = teams
        if (self.instance.pk and not self.instance.is_owned) or not teams.exists():
            del fields["teams"]


class NewGroupForm(GroupForm):
    """A new group with its cases."""

    cases = forms.ModelMultipleChoiceField(
        Case.objects.none(), required=False, widget=forms.CheckboxSelectMultiple(attrs={"class": "case-choices"})
    )

    field_order = ("name", "cases", "weighting", "teams")

    def __init__(self, user: User, data: FormData | None = None) -> None:
        super().__init__(user, data)
        fields: dict[str, Any] = self.fields
        fields["cases"].queryset = Case.objects.visible_to(user).live().order_by("name", "pk")


class AddCaseForm(forms.Form):
    """A case to add to a group."""

    case = forms.ModelChoiceField(
        Case.objects.none(),
        empty_label=None,
        error_messages={"invalid_choice": "You do not see this case, or it has been archived. Choose another one."},
    )

    def __init__(self, visible: QuerySet[Case], data: FormData | None = None) -> None:
        super().__init__(data, auto_id="group-%s")
        fields: dict[str, Any] = self.fields
        fields["case"].queryset = visible
