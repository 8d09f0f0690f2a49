"""The forms of the sign-in page, the account page and the page of API tokens."""

from copy import deepcopy
from itertools import chain
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, SetPasswordForm
from django.core.exceptions import ValidationError

from relevancy import accounts, scorers
from relevancy.models import ApiToken, Scorer, User
from relevancy.models.user import validate_ascii
from relevancy.views.forms import FormData, LineField
from relevancy.views.requests import HtmxRequest


def form_status(form: forms.BaseForm) -> int:
    """Returns the status of the page with a form: 429 if there were too many failures, 422 for other errors."""
    errors = chain.from_iterable(form.errors.as_data().values())
    return 429 if any(error.code == accounts.TOO_MANY for error in errors) else 422 if form.errors else 200


class SignInForm(AuthenticationForm):
    error_messages = {
        **AuthenticationForm.error_messages,
        "invalid_login": "The e-mail address or the password is wrong. Passwords are case-sensitive.",
    }


class PasswordRequestForm(forms.Form):
    email = forms.EmailField(
        label="E-mail address", validators=[validate_ascii], widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )


class AccountForm(forms.ModelForm):
    class Meta:
        model = User
        fields = ("name", "default_scorer", "theme", "single_keys")
        labels = {"single_keys": "Use single letters and digits as keyboard shortcuts"}
        help_texts = {
            "name": "Shown to others next to your ratings and runs.",
            "default_scorer": "What your new cases start with.",
            "theme": "In every browser in which you do not switch it yourself.",
            "single_keys": "Switch this off for screen readers and speech input; only keys with Ctrl or Alt work then.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        scorer_field = cast(forms.ModelChoiceField[Scorer], self.fields["default_scorer"])
        scorer_field.queryset = Scorer.objects.offered(self.instance).order_by("name")
        scorer_field.empty_label = f"The default of this site ({scorers.default_scorer()})"


def check_own_password(request: HtmxRequest, password: str) -> None:
    """Raises `ValidationError` if it is not the user's password. Failures count as those of signing in, so that nobody guesses the
    password in a session that was left open.
    """
    if authenticate(request, username=request.user.email, password=password) is None:
        raise ValidationError("The password is wrong.")


class OwnPasswordForm(forms.Form):
    """Asks for the user's password, if the account has one that signs in."""

    password = forms.CharField(
        strip=False, widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}), help_text="Your password."
    )

    def __init__(self, data: FormData | None = None, *, request: HtmxRequest) -> None:
        super().__init__(data)
        self.request = request
        if not (settings.PASSWORD_SIGN_IN and request.user.has_usable_password()):
            del self.fields["password"]

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        check_own_password(self.request, password)
        return password


class DeleteAccountForm(OwnPasswordForm):
    """What shows that it is the user who deletes the account: the password, or the address of an account without one; and what
    signing in needs besides."""

    email = forms.CharField(label="E-mail address", help_text="Enter the address of this account.")

    def __init__(self, data: FormData | None = None, *, request: HtmxRequest) -> None:
        super().__init__(data, request=request)
        if "password" in self.fields:
            del self.fields["email"]
        self.proof = accounts.required_proof(request.user)
        if self.proof:
            self.fields["code"] = deepcopy(self.proof.field)

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"].strip()
        if email.lower() != self.request.user.email.lower():
            raise ValidationError(f"This is not the address of this account, {self.request.user.email}.")
        return email

    def clean(self) -> dict[str, Any] | None:
        data = super().clean()
        if not self.errors and self.proof:
            self.proof.check(self.request.user, self.cleaned_data["code"])
        return data


REVOKE = forms.BooleanField(
    required=False,
    label="Also revoke all API tokens, and disconnect accounts elsewhere that sign you in",
    help_text="If someone else may have used the account.",
)


class LinkPasswordForm(SetPasswordForm[User]):
    """A new password, for those who have a link."""

    revoke = REVOKE


class PasswordForm(PasswordChangeForm):
    """A new password, for those who know the old one."""

    revoke = REVOKE

    def __init__(self, *args: Any, request: HtmxRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request

    def clean_old_password(self) -> str:
        password: str = self.cleaned_data["old_password"]
        check_own_password(self.request, password)
        return password


class TokenForm(forms.ModelForm):
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

    class Meta:
        model = ApiToken
        fields = ("name", "scope")
        labels = {"scope": "May"}
        help_texts = {
            "name": "What uses it, such as “nightly job”.",
            "scope": "Never more than your own roles allow.",
        }

    def clean_days(self) -> int | None:
        return self.cleaned_data["days"] or None


class SignUpForm(forms.Form):
    """A new account."""

    email = forms.EmailField(label="E-mail address", help_text="You sign in with it.")
    name = LineField(max_length=120, help_text="Shown to others next to your ratings and runs.")
    password = forms.CharField(
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="At least 8 characters, and not a common password.",
    )
