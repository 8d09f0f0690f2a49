"""The forms of studies: a new one, and more trials for one that has ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from relevancy.cases import list_knob_ranges
from relevancy.engines import KnobValue, knob_text
from relevancy.models import Attempt, Case, ScorerVersion
from relevancy.statistics import SEED
from relevancy.views.forms import LineField

from . import sealed_queries
from .space import Kind, Knob, SpaceError, parse_choices, write_choices
from .studies import MAX_TRIALS, StudySettings
from .suggestions import Suggestion, suggest_knobs

KIND_LABELS = {
    Kind.LOG: "by order of magnitude",
    Kind.LINEAR: "evenly",
    Kind.WHOLE: "whole numbers",
    Kind.CHOICES: "given values",
    Kind.SWITCH: "0 or 1",
}
GUARDS = 3  # rows of the form
MAX_SEED = 2**31 - 1


class KnobForm(forms.Form):
    """How one knob is varied. name: of the knob. now: its value in the attempt. suggestion: what the fields begin with."""

    varied = forms.BooleanField(required=False)
    kind = forms.ChoiceField(choices=[(kind.value, label) for kind, label in KIND_LABELS.items()])
    low = forms.FloatField(required=False, label="from", widget=forms.NumberInput(attrs={"step": "any"}))
    high = forms.FloatField(required=False, label="to", widget=forms.NumberInput(attrs={"step": "any"}))
    choices = forms.CharField(
        required=False,
        max_length=400,
        label="values",
        widget=forms.TextInput(attrs={"placeholder": "1, 2, 5 or and, or", "autocomplete": "off"}),
    )

    def __init__(self, name: str, now: KnobValue, suggestion: Suggestion, data: Any = None) -> None:
        initial: dict[str, Any] = {"varied": False, "kind": Kind.CHOICES.value, "choices": write_choices([now])}
        if knob := suggestion.knob:
            initial = {
                "varied": True,
                "kind": knob.kind.value,
                "low": knob_text(knob.low),
                "high": knob_text(knob.high),
                "choices": write_choices(knob.choices, ", "),
            }
        super().__init__(data, prefix=f"knob.{name}", initial=initial)
        self.name, self.now, self.suggestion = name, now, suggestion
        self.now_text = knob_text(now)
        self.knob: Knob | None = None

    def clean(self) -> dict[str, Any]:
        """Sets `knob`, if it is varied."""
        data = super().clean() or {}
        if not data.get("varied") or self.errors:
            return data
        kind = Kind(data["kind"])
        if kind in (Kind.LINEAR, Kind.LOG, Kind.WHOLE):
            for end in ("low", "high"):
                if data.get(end) is None:
                    self.add_error(end, f"Enter the {'lowest' if end == 'low' else 'highest'} value of {self.name}.")
            if self.errors:
                return data
        try:
            entered = data["choices"].strip()
            listed = entered if entered.startswith("[") else entered.replace(";", ",")
            choices = parse_choices(listed) if kind == Kind.CHOICES else ()
            self.knob = Knob(self.name, kind, data.get("low") or 0.0, data.get("high") or 0.0, choices)
        except SpaceError as error:
            raise ValidationError(str(error)) from None
        return data

    @property
    def problems(self) -> list[str]:
        """What is wrong with the knob, in sentences."""
        return [str(message) for messages in self.errors.values() for message in messages]


class GuardForm(forms.Form):
    """By how much the mean of the queries with a tag, or of all, may fall at most. Empty for no guard."""

    tag = forms.ChoiceField(required=False, label="Queries")
    max_fall = forms.FloatField(
        required=False, min_value=0, max_value=100, label="Points", widget=forms.NumberInput(attrs={"step": "any"})
    )

    def __init__(self, number: int, tags: list[str], data: Any = None) -> None:
        super().__init__(data, prefix=f"guard.{number}")
        field: Any = self.fields["tag"]
        field.choices = [("", "all queries"), *((tag, f"tagged {tag}") for tag in tags)]

    @property
    def guard(self) -> dict[str, Any] | None:
        """The guard, as a study stores it."""
        fall = self.cleaned_data.get("max_fall")
        return None if fall is None else {"tag": self.cleaned_data.get("tag", ""), "max_fall": fall}


class StudyForm(forms.Form):
    """What a new study searches, and how much.

    knobs: one form for each knob of the attempt. guards: some rows. Bound as a whole: `is_valid` checks them, too.
    """

    attempt = forms.IntegerField(widget=forms.HiddenInput)
    scorer = forms.TypedChoiceField(coerce=int)
    trials = forms.IntegerField(
        min_value=2, max_value=MAX_TRIALS, initial=200, help_text="Settings that are tried, the attempt included."
    )
    max_requests = forms.IntegerField(label="Requests at most", required=False, min_value=1, max_value=2**31 - 1)
    max_minutes = forms.IntegerField(label="Minutes at most", required=False, min_value=1, max_value=100_000)
    name = LineField(required=False, max_length=120, help_text="Such as what the study is to find out.")
    max_ms = forms.IntegerField(
        label="Search time at most, in ms",
        required=False,
        min_value=1,
        max_value=1_000_000,
        help_text="Settings that are slower on average are not chosen.",
    )
    estimates = forms.BooleanField(
        required=False,
        label="Estimate settings without searching",
        help_text="Where knobs are weights of sums, such as boosts: the best of thousands of settings become the last 20 trials.",
    )
    seed = forms.IntegerField(
        min_value=0, max_value=MAX_SEED, initial=SEED, help_text="The same seed tries the same settings."
    )

    def __init__(self, case: Case, attempt: Attempt, data: Any = None) -> None:
        super().__init__(data, initial={"attempt": attempt.number})
        self.versions = list(ScorerVersion.objects.used_by(case).select_related("scorer"))
        field: Any = self.fields["scorer"]
        field.choices = [(version.scorer_id, version.scorer.name) for version in self.versions]
        measures = [version for version in self.versions if not version.script]
        self.initial["scorer"] = measures[0].scorer_id if measures else None
        suggestions = suggest_knobs(attempt, list_knob_ranges(case))
        self.knobs = [
            KnobForm(name, attempt.knobs[name], suggestion, data) for name, suggestion in sorted(suggestions.items())
        ]
        sealed = sealed_queries.read_tag(case)
        tags = [tag for tag in list_tags(case) if tag != sealed]
        self.guards = [GuardForm(number, tags, data) for number in range(GUARDS)]

    def is_valid(self) -> bool:
        """Checks the knobs and guards, too."""
        parts = [part.is_valid() for part in (*self.knobs, *self.guards)]
        return super().is_valid() and all(parts)

    def first_problem(self) -> str:
        """Returns what is wrong, in a sentence; empty if the form is valid."""
        return next(self._problems(), "")

    def _problems(self) -> Iterator[str]:
        for name, messages in self.errors.items():
            label = str(self.fields[name].label or name.replace("_", " ").capitalize()) if name in self.fields else ""
            yield from (f"{label}: {message}" if label else str(message) for message in messages)
        for knob in self.knobs:
            yield from knob.problems
        for guard in self.guards:
            yield from (f"Guard: {message}" for messages in guard.errors.values() for message in messages)

    @property
    def version(self) -> ScorerVersion:
        """The chosen scorer. Only of a valid form."""
        return next(version for version in self.versions if version.scorer_id == self.cleaned_data["scorer"])

    @property
    def settings(self) -> StudySettings:
        """What was entered. Only of a valid form."""
        data = self.cleaned_data
        return StudySettings(
            knobs=[form.knob for form in self.knobs if form.knob is not None],
            trials=data["trials"],
            max_requests=data["max_requests"],
            max_minutes=data["max_minutes"],
            seed=data["seed"],
            guards=[guard for form in self.guards if (guard := form.guard) is not None],
            max_ms=data["max_ms"],
            estimates=data["estimates"],
            name=data["name"],
        )

    @property
    def initial_settings(self) -> StudySettings:
        """What the form begins with."""
        return StudySettings(
            knobs=[form.suggestion.knob for form in self.knobs if form.suggestion.knob is not None],
            trials=int(self.fields["trials"].initial or 0),
        )

    def has_more_errors(self) -> bool:
        """Whether a field below “More options” has an error."""
        return any(name in self.errors for name in ("name", "max_ms", "estimates", "seed")) or any(
            form.errors for form in self.guards
        )


class MoreTrialsForm(forms.Form):
    """How many trials a study makes beyond its budget."""

    more = forms.IntegerField(min_value=0, max_value=MAX_TRIALS, required=False)


class SealedTagForm(forms.Form):
    """The tag of the queries that no study of a case searches; empty for none."""

    tag = forms.ChoiceField(required=False, label="Tag of the sealed queries")

    def __init__(self, case: Case, data: Any = None) -> None:
        present = sealed_queries.read_tag(case)
        super().__init__(data, initial={"tag": present})
        field: Any = self.fields["tag"]
        tags = sorted({*list_tags(case), *([present] if present else [])})
        field.choices = [("", "No queries are sealed"), *((tag, tag) for tag in tags)]


def list_tags(case: Case) -> list[str]:
    """Returns the tags of the queries of a case, sorted."""
    return sorted(
        {tag for tags in case.case_queries.present().values_list("query__tags", flat=True) for tag in tags or ()}
    )
