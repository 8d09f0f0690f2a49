"""The forms of the comparison: which runs, under which scorer; name and note of a run."""

from collections.abc import Sequence

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from relevancy.models import Case, Run, ScorerVersion
from relevancy.views.forms import LineField

MAX_LISTED_RUNS = 500
COMPARED_RUNS = 2


def comparable_runs(case: Case) -> list[Run]:
    """Returns the finished runs of a case, newest first, with their attempts. One SQL statement."""
    runs = list(Run.objects.newest_for(case).finished().select_related("attempt")[:MAX_LISTED_RUNS])
    for run in runs:
        run.case = case
    return runs


class ComparisonForm(forms.Form):
    """The runs to compare, the baseline first, and the scorer. Bound to the address of the page."""

    run = forms.MultipleChoiceField(
        error_messages={
            "invalid_choice": "Run %(value)s does not exist in this case, or has no results yet. Choose another run.",
            "invalid_list": "Choose two runs.",
        }
    )
    scorer = forms.ChoiceField(
        required=False,
        error_messages={"invalid_choice": "This scorer does not belong to the case. Choose one of its scorers."},
    )

    def __init__(self, parameters: QueryDict, runs: Sequence[Run], versions: Sequence[ScorerVersion]) -> None:
        self._runs = {str(run.number): run for run in runs}
        self._versions = {str(version.scorer_id): version for version in versions}
        self._parameters = self._with_defaults(parameters)
        super().__init__(self._parameters)
        for name, numbers in (("run", self._runs), ("scorer", self._versions)):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [(number, number) for number in numbers]

    def _with_defaults(self, parameters: QueryDict) -> QueryDict:
        """Adds what the address leaves out: the newest complete run, and the complete run before the one that is named."""
        data = parameters.copy()
        named = [number for number in data.getlist("run") if number]
        complete = [number for number, run in self._runs.items() if run.status == Run.Status.COMPLETE]
        if not named:
            named = complete[1::-1]
        elif len(named) == 1 and named[0] in self._runs:
            earlier = [number for number in complete if int(number) < int(named[0])]
            named = [*earlier[:1], *named]
        data.setlist("run", named)
        return data

    def clean_run(self) -> list[Run]:
        """Returns the runs. Raises ValidationError unless they are two different ones."""
        numbers = self.cleaned_data["run"]
        if len(numbers) != COMPARED_RUNS:
            raise ValidationError(
                f"{len(numbers)} run{'' if len(numbers) == 1 else 's'} cannot be compared. Choose two."
            )
        return [self._runs[number] for number in numbers]

    def clean_scorer(self) -> ScorerVersion:
        """Returns the version of the scorer that the case uses; of its primary scorer if none is named."""
        chosen = self._versions.get(self.cleaned_data["scorer"]) or next(iter(self._versions.values()), None)
        if chosen is None:
            raise ValidationError("This case has no scorer. Add one on its page first.")
        return chosen

    @property
    def selected_numbers(self) -> list[str]:
        """The numbers of the runs as the form shows them."""
        return self._parameters.getlist("run")[:COMPARED_RUNS]

    @property
    def messages(self) -> list[str]:
        """What is wrong with the address, in sentences."""
        return [str(message) for errors in self.errors.values() for message in errors]


class RunDetailsForm(forms.Form):
    """Name and note of a run."""

    name = LineField(required=False, max_length=120, help_text="Such as “Before synonyms”.")
    note = LineField(required=False, max_length=250)
