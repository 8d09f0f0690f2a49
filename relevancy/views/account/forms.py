"""The forms of the sign-in page, the account page and the page of API tokens."""

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError

from relevancy import accounts
from relevancy.models import ApiToken, User
from relevancy.views.forms import LineField, add_errors


class SignInForm(AuthenticationForm):
    error_messages = {
        **AuthenticationForm.error_messages,
        "invalid_login": "The e-mail address or the password is wrong. Passwords are case-sensitive.",
    }


class PasswordRequestForm(forms.Form):
    email = forms.EmailField(label="E-mail address", widget=forms.EmailInput(attrs={"autocomplete": "email"}))


class CodeForm(forms.Form):
    code = forms.CharField(
        max_length=50,
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code"}),
        help_text="Six digits from the app, or one of your recovery codes.",
    )


class AccountForm(forms.ModelForm):
    class Meta:
        model = User
        fields = ("name", "single_keys")
        labels = {"single_keys": "Use single letters and digits as keyboard shortcuts"}
        help_texts = {
            "name": "Shown to others next to your ratings and runs.",
            "single_keys": "Switch this off for screen readers and speech input; only keys with Ctrl or Alt work then.",
        }


class TokenForm(forms.Form):
    name = LineField(max_length=120, help_text="What uses it, such as “nightly job”.")
    scope = forms.TypedChoiceField(
        label="May",
        choices=ApiToken.Scope.choices,
        coerce=ApiToken.Scope,
        help_text="Never more than your own roles allow.",
    )
    days = forms.TypedChoiceField(
        label="Valid for",
        choices=[
            ("7", "7 days"),
            ("30", "30 days"),
            ("90", "90 days"),
            ("365", "a year"),
            ("0", "until it is revoked"),
        ],
        coerce=int,
        initial="90",
    )

    def create(self, *, user: User) -> tuple[ApiToken | None, str]:
        """Creates the token of a valid form. Returns it with its text; otherwise `(None, "")`, and the form has an error."""
        data = self.cleaned_data
        try:
            return accounts.api_tokens.create(
                user=user, name=data["name"], scope=data["scope"], days=data["days"] or None
            )
        except ValidationError as error:
            add_errors(self, error)
            return None, ""
