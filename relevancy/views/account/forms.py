"""The forms of the sign-in page and the account page."""

from django import forms
from django.contrib.auth.forms import AuthenticationForm

from relevancy.models import User


class SignInForm(AuthenticationForm):
    error_messages = {
        **AuthenticationForm.error_messages,
        "invalid_login": "The e-mail address or the password is wrong. Passwords are case-sensitive.",
    }


class AccountForm(forms.ModelForm):
    class Meta:
        model = User
        fields = ("name", "single_keys")
        labels = {"single_keys": "Use single letters and digits as keyboard shortcuts"}
        help_texts = {
            "name": "Shown to others next to your ratings and runs.",
            "single_keys": "Switch this off for screen readers and speech input; only keys with Ctrl or Alt work then.",
        }
