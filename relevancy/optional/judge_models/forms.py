"""Forms of judge models. A key is written, never shown."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import forms

from relevancy.models import Role, Team, User
from relevancy.views.forms import FormData, LineField

from . import calibration, prompts, protocols
from .models import JudgeModel

MAX_AMOUNT = Decimal(10_000_000)


def _price(label: str) -> forms.DecimalField:
    return forms.DecimalField(
        label=label,
        min_value=Decimal(0),
        max_value=Decimal(100_000),
        max_digits=10,
        decimal_places=4,
        initial=0,
        help_text="Per million tokens, in any currency. 0: nothing is paid.",
    )


def _key_field(**options: Any) -> forms.CharField:
    widget = forms.PasswordInput(attrs={"autocomplete": "new-password"}, render_value=False)
    return forms.CharField(label="Key", max_length=2000, widget=widget, **options)


class JudgeModelForm(forms.Form):
    """A new judge model."""

    name = LineField(max_length=100, help_text="Its ratings are marked with this name and “(AI judge)”.")
    protocol = forms.ChoiceField(
        choices=[(protocol.key, protocol.label) for protocol in protocols.PROTOCOLS.values()],
        help_text="OpenAI-compatible: OpenAI, vLLM, llama.cpp, Ollama and many others.",
    )
    url = LineField(
        label="Address",
        max_length=500,
        widget=forms.TextInput(attrs={"class": "mono", "inputmode": "url", "autocomplete": "off"}),
        help_text="Such as https://api.openai.com/v1 or https://api.anthropic.com.",
    )
    model = LineField(max_length=200, help_text="Its name at the server.")
    key = _key_field(required=False, help_text="Stored encrypted, and never shown again.")
    prompt = forms.ChoiceField(
        choices=[(template.key, template.title) for template in prompts.TEMPLATES],
        initial=prompts.DEFAULT,
        help_text="Model, prompt and the longest answer never change. To try another prompt, add another judge model.",
    )
    max_tokens = forms.IntegerField(
        label="Longest answer", min_value=1, max_value=1_000_000, initial=1000, help_text="In tokens."
    )
    image_tokens = forms.IntegerField(
        label="Tokens of a picture",
        min_value=0,
        max_value=1_000_000,
        initial=0,
        help_text="0: pictures are not sent. To send them, enter the most that the server counts for one, such as 2000.",
    )
    input_price = _price("Price of the prompt")
    output_price = _price("Price of the answer")
    parallel = forms.IntegerField(label="Parallel requests", min_value=1, max_value=64, initial=4)
    per_minute = forms.IntegerField(
        label="Requests per minute", min_value=0, max_value=1_000_000, initial=0, help_text="0: no limit"
    )
    teams = forms.ModelMultipleChoiceField(
        Team.objects.none(),
        label="Shared with",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Editors of these teams may start jobs, which spend what the key pays for.",
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        teams = Team.objects.filter(memberships__user=user, memberships__role__gte=Role.EDITOR)
        fields: dict[str, Any] = self.fields
        fields["teams"].queryset = teams
        if not teams.exists():
            del fields["teams"]

    @property
    def values(self) -> dict[str, Any]:
        """The arguments of `judge_models.create`."""
        values = dict(self.cleaned_data)
        values["parameters"] = {"max_tokens": values.pop("max_tokens"), "temperature": 0}
        return values


class KeyForm(forms.Form):
    """Another key of a judge model; an empty one removes it."""

    key = _key_field(required=False)


class JobForm(forms.Form):
    """Which documents are sent, and what they may cost."""

    only_unrated = forms.BooleanField(label="Only documents without any rating", required=False)
    repeat_failed = forms.BooleanField(label="Failed documents again", required=False)
    budget = forms.DecimalField(
        min_value=Decimal(0),
        max_value=MAX_AMOUNT,
        max_digits=12,
        decimal_places=4,
        help_text="The most that the job may cost.",
        error_messages={"required": "Enter the most that the job may cost."},
    )

    def __init__(self, judge: JudgeModel, data: FormData | None = None, **options: Any) -> None:
        super().__init__(data, **options)
        if not judge.input_price and not judge.output_price:
            del self.fields["budget"]

    @property
    def choice(self) -> dict[str, bool]:
        """Which documents, as arguments of `judge_models.estimate`; also of a form that is not complete yet."""
        return {name: bool(self[name].value()) for name in ("only_unrated", "repeat_failed")}


class AutomaticForm(forms.Form):
    """Whether a judge model judges new results by itself, and what that may cost in all."""

    is_on = forms.BooleanField(
        label="Judge new results after each run",
        required=False,
        help_text="Only results without a rating. The answers stand apart until you let them count.",
    )
    budget = forms.DecimalField(
        label="Budget in all",
        required=False,
        min_value=Decimal(0),
        max_value=MAX_AMOUNT,
        max_digits=12,
        decimal_places=4,
        help_text="What all jobs that were started in this way may cost together.",
    )

    def __init__(self, judge: JudgeModel, data: FormData | None = None, **options: Any) -> None:
        super().__init__(data, **options)
        if not judge.input_price and not judge.output_price:
            del self.fields["budget"]


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
