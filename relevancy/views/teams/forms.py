"""Forms of teams and their members."""

from enum import StrEnum

from django import forms

from relevancy.models import Role


class TeamForm(forms.Form):
    name = forms.CharField(max_length=120)


class InvitationAction(StrEnum):
    """What the submit buttons of an invitation do."""

    ACCEPT = "accept"
    DECLINE = "decline"


class RoleForm(forms.Form):
    role = forms.TypedChoiceField(choices=Role.choices, coerce=int, initial=Role.RATER)


class InvitationForm(RoleForm):
    email = forms.EmailField(
        label="E-mail address",
        required=False,
        help_text="Only the account with this address can accept. Leave it empty for a link that one person can use.",
    )
    field_order = ("email", "role")
