"""Forms of judge models. A key is written, never shown."""

from collections.abc import Sequence
from typing import Any

from django import forms

from relevancy.models import Role, Team, User
from relevancy.views.forms import FormData

from . import calibration, jobs, prompts, protocols
from .models import AutomaticJudging, JudgeJob, JudgeModel


def _key_field(**options: Any) -> forms.CharField:
    widget = forms.PasswordInput(attrs={"autocomplete": "new-password"}, render_value=False)
    return forms.CharField(label="Key", max_length=2000, widget=widget, **options)


class JudgeModelForm(forms.ModelForm):
    """A new judge model."""

    protocol = forms.ChoiceField(
        choices=[(protocol.key, protocol.label) for protocol in protocols.PROTOCOLS.values()],
        help_text="OpenAI-compatible: OpenAI, vLLM, llama.cpp, Ollama and many others.",
    )
    key = _key_field(required=False, help_text="Stored encrypted, and never shown again.")
    prompt = forms.ChoiceField(
        choices=[(template.key, template.title) for template in prompts.TEMPLATES.values()],
        initial=prompts.DEFAULT,
        help_text="Whether it gives a reason. The text itself can be edited later. Model and longest answer never change.",
    )
    max_tokens = forms.IntegerField(
        label="Longest answer", min_value=1, max_value=1_000_000, initial=1000, help_text="In tokens."
    )

    MORE = ("max_tokens", "image_tokens", "parallel", "per_minute", "teams")  # have defaults that suit most

    class Meta:
        model = JudgeModel
        fields = [
            *("name", "protocol", "url", "model", "key", "prompt", "max_tokens", "image_tokens"),
            *("input_price", "output_price", "parallel", "per_minute", "teams"),
        ]
        widgets = {
            "url": forms.TextInput(attrs={"class": "mono", "inputmode": "url", "autocomplete": "off"}),
            "teams": forms.CheckboxSelectMultiple,
        }

    def __init__(self, user: User, data: FormData | None = None) -> None:
        super().__init__(data)
        teams = Team.objects.filter(memberships__user=user, memberships__role__gte=Role.EDITOR)
        fields: dict[str, Any] = self.fields
        fields["teams"].queryset = teams
        if not teams.exists():
            del fields["teams"]

    @property
    def first_fields(self) -> list[forms.BoundField]:
        """The fields that are always open."""
        return [field for field in self if field.name not in self.MORE]

    @property
    def more_fields(self) -> list[forms.BoundField]:
        """The other fields."""
        return [field for field in self if field.name in self.MORE]

    @property
    def has_errors_in_more(self) -> bool:
        """Whether one of the other fields has to be corrected."""
        return any(field.errors for field in self.more_fields)

    @property
    def values(self) -> dict[str, Any]:
        """The arguments of `judges.create`."""
        values = dict(self.cleaned_data)
        values["parameters"] = {"max_tokens": values.pop("max_tokens"), "temperature": 0}
        return values


class KeyForm(forms.Form):
    """Another key of a judge model; an empty one removes it."""

    key = _key_field(required=False)


class InstructionsForm(forms.ModelForm):
    """An own text of the instructions."""

    class Meta:
        model = JudgeModel
        fields = ["instructions"]
        widgets = {"instructions": forms.Textarea(attrs={"rows": 14, "class": "mono"})}


class BudgetForm(forms.ModelForm):
    """Asks for a budget, unless nothing is paid."""

    def __init__(self, judge: JudgeModel, data: FormData | None = None, **options: Any) -> None:
        super().__init__(data, **options)
        if not judge.is_paid:
            del self.fields["budget"]


class JobForm(BudgetForm):
    """Which documents are sent, and what they may cost."""

    only_unrated = forms.BooleanField(label="Only documents without any rating", required=False)
    repeat_failed = forms.BooleanField(label="Documents again that failed or were not understood", required=False)
    repeat_former = forms.BooleanField(label="Documents again that were judged with other instructions", required=False)

    class Meta:
        model = JudgeJob
        fields = ["only_unrated", "repeat_failed", "repeat_former", "budget"]
        error_messages = {"budget": {"required": "Enter the most that the job may cost."}}

    def __init__(self, judge: JudgeModel, data: FormData | None = None, **options: Any) -> None:
        super().__init__(judge, data, **options)
        if judge.is_paid:
            self.fields["budget"].required = True

    @property
    def choice(self) -> jobs.DocumentChoice:
        """Which documents; also of a form that is not complete yet."""
        names = ("only_unrated", "repeat_failed", "repeat_former")
        return jobs.DocumentChoice(**{name: bool(self[name].value()) for name in names})


class AutomaticForm(BudgetForm):
    """Whether a judge model judges new results by itself, and what that may cost in all."""

    class Meta:
        model = AutomaticJudging
        fields = ["is_on", "budget"]


class SampleForm(forms.Form):
    """How many queries are drawn for calibration."""

    size = forms.IntegerField(
        label="Queries", min_value=calibration.MIN_SAMPLE, max_value=calibration.MAX_SAMPLE, initial=25
    )


class CalibrationForm(forms.Form):
    """The case and the scorer that a judge model is compared with people by. choices: `[(value, label), …]`."""

    by = forms.ChoiceField(label="Scored by")

    def __init__(self, choices: Sequence[tuple[str, str]], data: FormData | None = None) -> None:
        super().__init__(data)
        fields: dict[str, Any] = self.fields
        fields["by"].choices = choices
