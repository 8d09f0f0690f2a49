"""The form of the account page."""

from django import forms

from relevancy.models import User


class AccountForm(forms.ModelForm):
    class Meta:
        model = User
        fields = ("name", "single_keys")
        labels = {"single_keys": "Use single letters and digits as keyboard shortcuts"}
        help_texts = {
            "name": "Shown to others next to your ratings and runs.",
            "single_keys": "Switch this off for screen readers and speech input; only keys with Ctrl or Alt work then.",
        }
