"""Forms of teams, sharing and the account."""

from typing import Any

from django import forms

from relevancy.models import Role, Team, User


class TeamForm(forms.Form):
    name = forms.CharField(max_length=120)


class RoleForm(forms.Form):
    role = forms.TypedChoiceField(choices=Role.choices, coerce=int, initial=Role.RATER)


class MemberForm(RoleForm):
    email = forms.EmailField(label="E-mail address", help_text="Of somebody who has an account here.")
    field_order = ("email", "role")


class ShareForm(forms.Form):
    team = forms.ModelChoiceField(Team.objects.none(), empty_label=None)

    def __init__(self, teams: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["team"].queryset = teams  # type: ignore[attr-defined]


class AccountForm(forms.ModelForm):
    class Meta:
        model = User
        fields = ("name", "single_keys")
        labels = {"single_keys": "Single letters and digits work as keys"}
        help_texts = {
            "name": "What others see beside your ratings and runs.",
            "single_keys": "Off: only keys with Ctrl or Alt work. For screen readers and speech input.",
        }
