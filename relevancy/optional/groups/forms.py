"""The forms of groups of cases."""

from typing import Any

from django import forms
from django.db.models import QuerySet

from relevancy.models import Case, Team, User
from relevancy.views.forms import FormData, LineField

from .models import CaseGroup


class GroupForm(forms.Form):
    """The name of a group and what counts the same in its mean; for its owners also the teams that it is shared with."""

    name = LineField(max_length=191)
    weighting = forms.ChoiceField(
        label="Mean",
        choices=CaseGroup.Weighting.choices,
        initial=CaseGroup.Weighting.CASES,
        help_text="With queries, a case with many of them counts more.",
    )
    teams = forms.ModelMultipleChoiceField(
        Team.objects.none(),
        label="Share with",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Members see the group with those of its cases that they may see anyway.",
    )

    def __init__(self, user: User, *args: Any, can_share: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        fields["teams"].queryset = Team.objects.shareable_by(user).order_by("name")
        if not can_share or not fields["teams"].queryset.exists():
            del fields["teams"]


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
