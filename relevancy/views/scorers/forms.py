"""The form of a scorer; the fields of a measure are generated from its parameters."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from relevancy import scorers
from relevancy.models import ScorerDefinition, ScorerVersion
from relevancy.models.errors import error_location, error_text
from relevancy.scoring.errors import ScoringError
from relevancy.scoring.types import Parameter
from relevancy.templatetags import numbers
from relevancy.views.forms import CodeField, FormData, InitialValues, add_errors, mark_location

SCRIPT_ONLY, MEASURE_ONLY = ("script", "output_range"), ("measure",)


class ScorerForm(forms.Form):
    """A scorer: name, description, rating scale, and a measure or a script.

    After validation, `scorer_definition` holds the definition (None if it is invalid) and `notation` the measure in its
    notation, such as `nDCG@10`; empty for a script.
    """

    kind = forms.ChoiceField(choices=[("measure", "measure"), ("script", "script")], widget=forms.HiddenInput)
    name = forms.CharField(
        max_length=scorers.MAX_NAME,
        error_messages={"required": "Name the scorer."},
        help_text="Shown wherever scorers are listed.",
    )
    description = forms.CharField(
        required=False,
        max_length=scorers.MAX_DESCRIPTION,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="When to use it and when it misleads.",
    )
    scale = forms.CharField(
        max_length=2_000,
        error_messages={"required": "Enter the grades of the rating scale, such as 0:3."},
        help_text="Lowest:highest, or grades with labels: 0 Poor, 1 Fair, 2 Good, 3 Perfect. New books use this scale.",
    )
    measure = forms.ChoiceField(
        error_messages={"invalid_choice": "The measure %(value)s is not installed. Choose one from the list."}
    )
    cutoff = forms.FloatField(
        label="Cutoff k",
        required=False,
        widget=forms.NumberInput(attrs={"step": 1, "min": 1}),
        error_messages={"invalid": "The cutoff must be a whole number of results, such as 10."},
    )
    script = CodeField(
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 18, "spellcheck": "false", "data-editor": "javascript", "wrap": "off"}),
        error_messages={"required": "Write a script."},
    )
    output_range = forms.ChoiceField(
        label="The script gives",
        choices=[("", "Choose…"), *ScorerVersion.OutputRange.choices],
        error_messages={"required": "Choose what the script gives: scores from 0 to 1, or from 0 to 100."},
        help_text="Scripts from Quepid mostly give 0–1. The preview says what it finds.",
    )
    count_unscoreable_as_zero = forms.BooleanField(label="Count queries that cannot be scored as 0", required=False)
    is_global = forms.BooleanField(label="Available to all users; only admins can edit it", required=False)

    def __init__(
        self,
        data: FormData | None = None,
        *,
        initial: InitialValues | None = None,
        offer_global: bool = False,
    ) -> None:
        super().__init__(data, initial=initial)
        self.scorer_definition: ScorerDefinition | None = None
        self.notation = ""
        self.selected_kind = self["kind"].value() if self["kind"].value() in {"measure", "script"} else "measure"
        self.parameters: list[str] = []
        for name in SCRIPT_ONLY if self.selected_kind == "measure" else MEASURE_ONLY:
            del self.fields[name]
        if not offer_global:
            del self.fields["is_global"]
        if self.selected_kind == "measure":
            self._add_measure_fields()
        else:
            self.fields["cutoff"] = forms.IntegerField(
                label="Cutoff k",
                required=False,
                min_value=1,
                max_value=scorers.MAX_CUTOFF,
                help_text=f"How many results count, at most {scorers.MAX_CUTOFF:,}. "
                "Leave empty to use the k that the script declares, or all displayed results.",
            )

    def _add_measure_fields(self) -> None:
        definitions = scorers.get_definitions()
        measure_field = self.fields["measure"]
        assert isinstance(measure_field, forms.ChoiceField)
        measure_field.choices = [(name, f"{name} – {definition.title}") for name, definition in definitions.items()]
        self.measure_definition = definitions.get(str(self["measure"].value() or ""), next(iter(definitions.values())))
        if self.measure_definition.cutoff == "none":
            del self.fields["cutoff"]
        else:
            required = self.measure_definition.cutoff == "required"
            self.fields["cutoff"].help_text = (
                "How many results count."
                if required
                else "How many results count. Leave empty for all displayed results."
            )
        for parameter in self.measure_definition.parameters:
            self.fields[f"p_{parameter.name}"] = _build_field(parameter)
            self.parameters.append(f"p_{parameter.name}")

    @property
    def parameter_fields(self) -> list[forms.BoundField]:
        """The fields of the measure's parameters."""
        return [self[name] for name in self.parameters]

    def clean_script(self) -> str:
        script: str = self.cleaned_data["script"]
        if not script.strip():
            raise forms.ValidationError("Write a script.")
        return script

    def clean_scale(self) -> list[list[float | str]]:
        try:
            return scorers.parse_scale(self.cleaned_data["scale"])
        except ValidationError as error:
            raise forms.ValidationError(error_text(error)) from None

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        measure = self.notation = self._build_notation(data) if self.selected_kind == "measure" else ""
        missing = {"output_range"} if self.misses_output_range else set()
        if not set(self.errors) - {"name", "description"} - missing:
            self.scorer_definition = ScorerDefinition(
                measure=measure,
                script=data.get("script", ""),
                scale=data["scale"],
                output_range=data.get("output_range") or "100",
                cutoff=None if measure else data.get("cutoff"),
                count_unscoreable_as_zero=data["count_unscoreable_as_zero"],
            )
        return data

    @property
    def misses_output_range(self) -> bool:
        """Whether it was not chosen what the script gives; the definition then says 0–100, and cannot be saved."""
        return "output_range" in self.fields and self.has_error("output_range", "required")

    @property
    def values(self) -> dict[str, Any]:
        """What a valid form contains, as `scorers.create` and `scorers.change` take it."""
        data = self.cleaned_data
        return {"name": data["name"], "description": data["description"], "definition": self.scorer_definition}

    def _build_notation(self, data: Mapping[str, Any]) -> str:
        """Returns the measure in its notation; if it is invalid, adds errors to the fields concerned and returns ""."""
        name, cutoff = self.measure_definition.name, data.get("cutoff")
        valid_cutoff = None if self.measure_definition.cutoff == "none" else 10
        values = {parameter.name: data.get(f"p_{parameter.name}") for parameter in self.measure_definition.parameters}
        for key, value in values.items():
            try:
                scorers.build_measure(name, {key: value}, valid_cutoff)
            except ScoringError as reason:
                self.add_error(f"p_{key}", str(reason))
        try:
            scorers.build_measure(name, {}, cutoff)
        except ScoringError as reason:
            self.add_error("cutoff" if "cutoff" in self.fields else "measure", str(reason))
        is_invalid = self.errors.keys() & {"measure", "cutoff", *self.parameters}
        return "" if is_invalid else str(scorers.build_measure(name, values, cutoff))

    def add_service_errors(self, error: ValidationError) -> None:
        """Adds the errors of a service to the fields; for a script, also sets the line and column that the editor marks."""
        line, column = error_location(error)
        if "script" not in self.fields or line is None:
            add_errors(self, error)
            return
        self.add_error("script", f"Line {line}, column {column or 1}: {error_text(error)}")
        mark_location(self.fields["script"], error)


def _build_field(parameter: Parameter) -> forms.Field:
    """Returns the form field of a parameter. The measure itself validates numbers."""
    if parameter.choices:
        choices = [(value, f"{value}: {meaning}") for value, meaning in parameter.choices]
        values = ", ".join(value for value, _ in parameter.choices)
        messages = {"invalid_choice": f"%(value)s is not a value of {parameter.name}. Choose one of: {values}."}
        return forms.ChoiceField(
            label=parameter.title, choices=choices, initial=parameter.default, required=False, error_messages=messages
        )
    attrs: dict[str, str | float] = {"step": "any", "min": parameter.minimum}
    if parameter.maximum != float("inf"):
        attrs["max"] = parameter.maximum
    if parameter.default is not None:
        attrs["placeholder"] = numbers.grade_text(parameter.default)
    help_text = parameter.description[:1].upper() + parameter.description[1:]
    return forms.CharField(
        label=parameter.title, required=False, help_text=f"{help_text}.", widget=forms.NumberInput(attrs=attrs)
    )
