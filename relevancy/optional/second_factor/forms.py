"""Forms of the second factor."""

from django import forms

from relevancy.views.account.forms import OwnPasswordForm


class CodeForm(forms.Form):
    code = forms.CharField(
        max_length=50,
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code"}),
        help_text="Six digits from the app, or one of your recovery codes.",
    )


class SecondFactorForm(OwnPasswordForm):
    """What turns the second factor on: a code of the new app, and the password."""

    code = CodeForm.base_fields["code"]
