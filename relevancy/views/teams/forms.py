"""Forms of teams and their members."""

from django import forms

from relevancy.models import Role


class TeamForm(forms.Form):
    name = forms.CharField(max_length=120)


class RoleForm(forms.Form):
    role = forms.TypedChoiceField(choices=Role.choices, coerce=int, initial=Role.RATER)


class MemberForm(RoleForm):
    email = forms.EmailField(label="E-mail address", help_text="The person needs an account on this site.")
    field_order = ("email", "role")
