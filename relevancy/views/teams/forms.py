"""Forms of teams and of sharing with them."""

from typing import Any

from django import forms
from django.db.models import QuerySet

from relevancy.models import Role, Team


class TeamForm(forms.Form):
    name = forms.CharField(max_length=120)


class RoleForm(forms.Form):
    role = forms.TypedChoiceField(choices=Role.choices, coerce=int, initial=Role.RATER)


class MemberForm(RoleForm):
    email = forms.EmailField(label="E-mail address", help_text="The person needs an account on this site.")
    field_order = ("email", "role")


class ShareForm(forms.Form):
    """teams: the teams that can be chosen."""

    def __init__(self, teams: QuerySet[Team], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["team"] = forms.ModelChoiceField(teams, empty_label=None)
