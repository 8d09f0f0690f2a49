"""The forms of the comparison: which runs, under which scorer; name and note of a run."""

from collections.abc import Sequence

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.formats import date_format
from django.utils.timezone import localtime

from relevancy import comparison
from relevancy.models import Case, Run, ScorerVersion, User
from relevancy.views.forms import LineField
from relevancy.wording import counted

MAX_LISTED_RUNS = 500
MIN_RUNS = 2


def comparable_runs(case: Case) -> list[Run]:
    """Returns the finished runs of a case, newest first, with their attempts. One SQL statement."""
    runs = list(Run.objects.newest_for(case).finished().select_related("attempt")[:MAX_LISTED_RUNS])
    for run in runs:
        run.case = case
    return runs


def runs_of_other_cases(case: Case, user: User) -> list[Run]:
    """Returns the finished runs of the other cases on the same book that the user may view, by case, newest first, with their
    attempts. Two SQL statements at most."""
    others = Case.objects.visible_to(user).live().filter(book=case.book_id).exclude(pk=case.pk)
    cases = {other.pk: other for other in others}
    if not cases:
        return []
    finished = (
        Run.objects.filter(case__in=cases)
        .finished()
        .select_related("attempt")
        .order_by("case__name", "case", "-number")
    )
    runs = list(finished[:MAX_LISTED_RUNS])
    for run in runs:
        run.case = cases[run.case_id]
        run.case.book = case.book
    return runs


def run_value(run: Run, case: Case) -> str:
    """Returns what addresses of a case call a run: its number, or the id of its case and its number: `7:3`."""
    return str(run.number) if run.case_id == case.pk else f"{run.case_id}:{run.number}"


def describe_run(run: Run) -> str:
    """Returns the text by which a run is chosen: `Run 12, phrase boost · attempt 8, Tie and cast · 14 Nov, 16:20 · pinned`."""
    attempt = f"attempt {run.attempt.number}" + (f", {run.attempt.name}" if run.attempt.name else "")
    created_at = date_format(localtime(run.created_at), "j M, H:i")
    return " · ".join([run.label, attempt, created_at, *(["pinned"] if run.pinned_at else [])])


class ComparisonForm(forms.Form):
    """The runs to compare, the baseline first, and the scorer. Bound to the address of the page.

    The baseline is a run of the case; the others may belong to other cases on the same book.
    """

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

    def __init__(
        self,
        parameters: QueryDict,
        case: Case,
        runs: Sequence[Run],
        other_runs: Sequence[Run],
        versions: Sequence[ScorerVersion],
    ) -> None:
        self._case = case
        self._own = {run_value(run, case): run for run in runs}
        self._runs = self._own | {run_value(run, case): run for run in other_runs}
        self._versions = {str(version.scorer_id): version for version in versions}
        self._parameters = self._with_defaults(parameters)
        super().__init__(self._parameters)
        for name, numbers in (("run", self._runs), ("scorer", self._versions)):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [(number, number) for number in numbers]

    def _with_defaults(self, parameters: QueryDict) -> QueryDict:
        """Adds what the address leaves out: the newest complete run, and the complete run before the one that is named, or after it
        if it is the first."""
        data = parameters.copy()
        named = [number for number in data.getlist("run") if number]
        complete = [number for number, run in self._own.items() if run.status == Run.Status.COMPLETE]
        if not named:
            named = complete[1::-1]
            if len(named) == 1:
                named += [number for number in self._runs if number not in self._own][:1]
        elif len(named) == 1 and named[0] in self._own:
            earlier = [number for number in complete if int(number) < int(named[0])]
            later = [number for number in complete if int(number) > int(named[0])]
            named = [*(earlier[:1] or later[-1:]), *named]
        data.setlist("run", named)
        return data

    def clean_run(self) -> list[Run]:
        """Returns the runs. Raises ValidationError unless they are two to five, and the first one belongs to the case."""
        numbers = self.cleaned_data["run"]
        if not MIN_RUNS <= len(numbers) <= comparison.MAX_RUNS:
            raise ValidationError(
                f"{counted(len(numbers), 'run')} cannot be compared. Choose two to {comparison.MAX_RUNS}."
            )
        if numbers[0] not in self._own:
            raise ValidationError(
                f"The baseline must be a run of {self._case}. Choose one of its runs as the first one."
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
        """The runs as the form shows them: at least two, with empty ones for those that are missing."""
        chosen: list[str] = self._parameters.getlist("run")[: comparison.MAX_RUNS]
        return chosen + [""] * (MIN_RUNS - len(chosen))

    @property
    def next_number(self) -> str:
        """A run that could be compared as well: the newest one that is not chosen; empty if there is none."""
        chosen = set(self.selected_numbers)
        others = [number for number in self._runs if number not in chosen]
        return others[0] if others else ""


class RunDetailsForm(forms.Form):
    """Name and note of a run."""

    name = LineField(required=False, max_length=120, help_text="Such as “Before synonyms”.")
    note = LineField(required=False, max_length=250)
