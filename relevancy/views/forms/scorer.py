"""The form of a scorer's definition, drawn from the measure's own description."""

from typing import Any

from django import forms
from django_ace import AceWidget

from relevancy import cases, evaluation
from relevancy.evaluation import Draft, ScoringError
from relevancy.models import ScorerVersion

from .refusals import refuse

SCRIPT_ONLY, MEASURE_ONLY = ("script", "gives", "depth"), ("measure", "cutoff")
DEEPEST = cases.scorers.DEEPEST


class ScriptField(forms.CharField):
    """JavaScript as it was typed, with one kind of line ends."""

    def __init__(self) -> None:
        widget = AceWidget(
            mode="javascript",
            width=None,
            height=None,
            tabsize=2,
            showprintmargin=False,
            toolbar=False,
            useStrictCSP=True,
            attrs={"rows": 18, "class": "mono", "spellcheck": "false", "data-script": "", "wrap": "off"},
        )
        super().__init__(strip=False, max_length=100_000, widget=widget, error_messages={"required": "Write a script."})

    def to_python(self, value: Any) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")


class ScorerForm(forms.Form):
    """A definition with its name. After `is_valid` or a look at `errors`, `draft` is what is defined, None where that is wrong;
    `written` its measure in the field's notation."""

    kind = forms.ChoiceField(choices=[("measure", "measure"), ("script", "script")], widget=forms.HiddenInput)
    name = forms.CharField(
        max_length=cases.scorers.MAX_NAME,
        error_messages={"required": "Name the scorer."},
        help_text="What it is called where it is chosen.",
    )
    description = forms.CharField(
        required=False,
        max_length=cases.scorers.MAX_DESCRIPTION,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="When to use it and when it misleads.",
    )
    scale = forms.CharField(
        max_length=2_000,
        error_messages={"required": "Say which grades there are, such as 0:3."},
        help_text="Lowest:highest, or grades with labels: 0 Poor, 1 Fair, 2 Good, 3 Perfect. A new book takes it over.",
    )
    measure = forms.ChoiceField(
        error_messages={"invalid_choice": "There is no measure %(value)s here. Choose one of the list."}
    )
    cutoff = forms.FloatField(
        label="Cutoff k",
        required=False,
        widget=forms.NumberInput(attrs={"step": 1, "min": 1}),
        error_messages={"invalid": "The cutoff is a whole number of results, such as 10."},
    )
    script = ScriptField()
    gives = forms.ChoiceField(choices=ScorerVersion.Gives.choices)
    depth = forms.IntegerField(
        label="Looks at",
        required=False,
        min_value=1,
        max_value=DEEPEST,
        help_text=f"Results, at most {DEEPEST:,}. Empty: the k the script declares, else as many as are shown.",
    )
    zero = forms.BooleanField(label="Count queries that cannot be scored as 0", required=False)
    communal = forms.BooleanField(label="For everybody, kept by the admins", required=False)

    def __init__(self, *args: Any, offer_communal: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.draft: Draft | None = None
        self.written = ""
        self.which = self["kind"].value() if self["kind"].value() in {"measure", "script"} else "measure"
        self.parameters: list[str] = []
        for name in SCRIPT_ONLY if self.which == "measure" else MEASURE_ONLY:
            del self.fields[name]
        if not offer_communal:
            del self.fields["communal"]
        if self.which == "measure":
            self._draw_measure()

    def _draw_measure(self) -> None:
        every = evaluation.measures()
        self.fields["measure"].choices = [  # type: ignore[attr-defined]
            (name, f"{name} – {definition.title}") for name, definition in every.items()
        ]
        self.definition = every.get(str(self["measure"].value() or ""), next(iter(every.values())))
        if self.definition.cutoff == "none":
            del self.fields["cutoff"]
        else:
            required = self.definition.cutoff == "required"
            self.fields["cutoff"].help_text = (
                "How many results it looks at." if required else "Empty: as many as are shown."
            )
        for parameter in self.definition.parameters:
            self.fields[f"p_{parameter.name}"] = _field_of(parameter)
            self.parameters.append(f"p_{parameter.name}")

    @property
    def parameter_fields(self) -> list[forms.BoundField]:
        """The fields drawn from the measure's description."""
        return [self[name] for name in self.parameters]

    def clean_script(self) -> str:
        script: str = self.cleaned_data["script"]
        if not script.strip():
            raise forms.ValidationError("Write a script.")
        return script

    def clean_scale(self) -> list[list[float | str]]:
        try:
            return cases.parse_scale(self.cleaned_data["scale"])
        except cases.Refused as reason:
            raise forms.ValidationError(str(reason)) from None

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        measure = self.written = self._measure(data) if self.which == "measure" else ""
        wrong = set(self.errors) - {"name", "description"}
        if not wrong:
            self.draft = Draft(
                measure=measure,
                script=data.get("script", ""),
                scale=data["scale"],
                gives=data.get("gives", "100"),
                depth=data.get("depth"),
                count_unscoreable_as_zero=data["zero"],
            )
        return data

    def _measure(self, data: dict[str, Any]) -> str:
        """The measure in the field's notation; what is wrong goes to the field it is about."""
        name, cutoff = self.definition.name, data.get("cutoff")
        usual = None if self.definition.cutoff == "none" else 10
        values = {parameter.name: data.get(f"p_{parameter.name}") for parameter in self.definition.parameters}
        for key, value in values.items():
            try:
                evaluation.write_measure(name, {key: value}, usual)
            except ScoringError as reason:
                self.add_error(f"p_{key}", str(reason))
        try:
            evaluation.write_measure(name, {}, cutoff)
        except ScoringError as reason:
            self.add_error("cutoff" if "cutoff" in self.fields else "measure", str(reason))
        return (
            ""
            if self.errors.keys() & {"measure", "cutoff", *self.parameters}
            else evaluation.write_measure(name, values, cutoff)
        )

    def refuse(self, reason: cases.Refused) -> None:
        """Put what a workroom refused at its field; in a script, at its line and column."""
        if reason.field != "script" or "script" not in self.fields or not reason.line:
            refuse(self, reason)
            return
        self.add_error("script", f"Line {reason.line}, column {reason.column or 1}: {reason}")
        marks = {
            "data-error-line": reason.line,
            "data-error-column": reason.column or 1,
            "data-error-text": str(reason),
        }
        self.fields["script"].widget.attrs.update(marks)


def _field_of(parameter: Any) -> forms.Field:
    """A field drawn from a parameter's description; a number is checked by the measure itself."""
    if parameter.choices:
        choices = [(value, f"{value}: {meaning}") for value, meaning in parameter.choices]
        known = ", ".join(value for value, _ in parameter.choices)
        said = {"invalid_choice": f"%(value)s is none of the values of {parameter.name}. There are: {known}."}
        return forms.ChoiceField(
            label=parameter.title, choices=choices, initial=parameter.default, required=False, error_messages=said
        )
    limits = {"step": "any", "min": parameter.minimum}
    if parameter.maximum != float("inf"):
        limits["max"] = parameter.maximum
    if parameter.default is not None:
        limits["placeholder"] = f"{parameter.default:g}"
    said = parameter.description[:1].upper() + parameter.description[1:]
    return forms.CharField(
        label=parameter.title, required=False, help_text=f"{said}.", widget=forms.NumberInput(attrs=limits)
    )
