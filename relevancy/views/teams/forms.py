"""Forms of teams and their members."""

from enum import StrEnum

from django import forms

from relevancy.models import Role
from relevancy.models.invitation import LIFETIME, MAX_USES


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
        help_text="Only the account with this address can accept. Leave it empty for a link.",
    )
    uses = forms.IntegerField(
        label="Uses of the link",
        required=False,
        initial=1,
        min_value=1,
        max_value=MAX_USES,
        help_text=f"How many people can join with it, at most {MAX_USES}.",
    )
    days = forms.TypedChoiceField(
        label="Valid for",
        required=False,
        choices=[("1", "a day"), ("7", "7 days"), ("14", "14 days"), ("30", "30 days"), ("90", "90 days")],
        coerce=int,
        initial=str(LIFETIME.days),
    )
    field_order = ("email", "role", "uses", "days")

    def clean_uses(self) -> int:
        return self.cleaned_data["uses"] or 1

    def clean_days(self) -> int:
        return self.cleaned_data["days"] or LIFETIME.days
