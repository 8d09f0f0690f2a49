"""Forms of features."""

from django import forms

from relevancy import engines, runs
from relevancy.models import Case, Run, ScorerVersion
from relevancy.views.compare.forms import describe_run
from relevancy.views.forms import CodeField, FormData, InitialValues

from .models import FeatureModel


class FeatureSetForm(forms.Form):
    """The features of a case, and the attempt whose endpoint is asked."""

    attempt = forms.TypedChoiceField(
        coerce=int,
        help_text="Features ask its endpoint, with its id field and its options. Models of them are proposed for its template.",
    )
    text = CodeField(
        label="Features", widget=forms.Textarea(attrs={"rows": 12, "class": "mono", "spellcheck": "false"})
    )

    def __init__(self, case: Case, data: FormData | None = None, initial: InitialValues | None = None) -> None:
        super().__init__(data, initial=initial)  # type: ignore[arg-type]
        attempts = case.attempts.filter(archived_at=None).select_related("endpoint").order_by("-number")
        self.attempts = {attempt.number: attempt for attempt in attempts if not runs.is_for_imported(attempt.endpoint)}
        choices = [
            (number, f"{attempt}{f' {attempt.name}' if attempt.name else ''} on {attempt.endpoint.name}")
            for number, attempt in self.attempts.items()
        ]
        field = self.fields["attempt"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices
        known = {attempt.endpoint.engine for attempt in self.attempts.values()}
        examples = [
            engine.example_clause for key in sorted(known) if (engine := engines.find(key)) and engine.example_clause
        ]
        self.fields["text"].help_text = (
            "A feature begins with its name and a colon; lines that are indented belong to it. After the colon stands a query in the "
            "language of the engine, or “number” and the name of a field. "
            + "".join(f"Example: title_score: {example} " for example in examples)
        )

    def clean_attempt(self) -> object:
        return self.attempts[self.cleaned_data["attempt"]]


class LogForm(forms.Form):
    """What is logged besides the rated documents."""

    run = forms.TypedChoiceField(
        label="Log the rated documents, and the results of",
        coerce=int,
        required=False,
        empty_value=None,
        help_text="A model can rank again only what has been logged.",
    )

    def __init__(self, run_list: list[Run], data: FormData | None = None) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        self._runs = {run.number: run for run in run_list}
        field = self.fields["run"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [
            ("", "no run: the rated documents only"),
            *((run.number, describe_run(run)) for run in run_list),
        ]

    def clean_run(self) -> Run | None:
        number = self.cleaned_data["run"]
        return self._runs[number] if number else None


class FitForm(forms.Form):
    """A model of the logged features."""

    kind = forms.ChoiceField(choices=FeatureModel.Kind.choices)
    version = forms.TypedChoiceField(label="Scorer", coerce=int, help_text="What the weights are chosen for.")

    def __init__(self, case: Case, data: FormData | None = None) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        self._versions = {version.pk: version for version in ScorerVersion.objects.used_by(case) if not version.script}
        field = self.fields["version"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(pk, version.scorer.name) for pk, version in self._versions.items()]

    def clean_version(self) -> ScorerVersion:
        return self._versions[self.cleaned_data["version"]]
