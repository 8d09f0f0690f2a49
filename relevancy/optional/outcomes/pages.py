"""Outcomes of interleaving and A/B tests of a case, beside the verdicts of its comparisons."""

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from relevancy import formats, tasks
from relevancy.models import Case, Role, Run
from relevancy.views.compare.forms import comparable_runs, describe_run
from relevancy.views.forms import LineField, add_errors
from relevancy.views.requests import HtmxRequest, ImportAction, submitted
from relevancy.views.responses import redirect_with_message
from relevancy.views.workbench.access import CaseAccess, get_case

from . import outcomes
from .models import OnlineOutcome
from .sessions_csv import MAX_ON_PAGE, read_outcome


class OutcomeForm(forms.Form):
    """A file of sessions, and the two runs that users saw."""

    a = forms.TypedChoiceField(label="Run A, the baseline", coerce=int, error_messages={"required": "Choose a run."})
    b = forms.TypedChoiceField(label="Run B", coerce=int, error_messages={"required": "Choose a run."})
    name = LineField(max_length=120, required=False, help_text="Such as “May, desktop”. Default: the name of the file.")
    file = forms.FileField(
        label="Sessions",
        help_text="CSV with the column session and either winner (a, b or tie); clicks_a and clicks_b, of interleaved results; or side "
        "(a or b) and success (0 or 1), of an A/B test. With a column count instead of session, a row stands for so many sessions.",
        error_messages={"required": "Choose a file of sessions."},
    )

    def __init__(self, runs: list[Run], data: QueryDict | None = None, files: object = None, **kwargs: object) -> None:
        super().__init__(data, files, **kwargs)  # type: ignore[arg-type]
        self._runs = {run.number: run for run in runs}
        for name in ("a", "b"):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [("", "Choose a run"), *((run.number, describe_run(run)) for run in runs)]

    def clean_a(self) -> Run:
        return self._runs[self.cleaned_data["a"]]

    def clean_b(self) -> Run:
        return self._runs[self.cleaned_data["b"]]


@require_GET
def online_outcomes(request: HtmxRequest, case_id: int) -> HttpResponse:
    """The outcomes of a case and how many offline winners won online; for editors the form of another one. Polled by htmx."""
    case = get_case(request, case_id)
    if request.htmx:
        return render(request, "outcomes/_list.html", _list_context(request, case))
    runs = comparable_runs(case)
    return _render(request, case, OutcomeForm(runs, initial={name: request.GET.get(name, "") for name in "ab"}), runs)


@require_POST
def online_outcome_import(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Says what a file of sessions shows (`do=preview`), and stores it (`do=import`)."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    action = submitted(request, ImportAction)
    runs = comparable_runs(case)
    form = OutcomeForm(runs, request.POST, request.FILES)
    outcome = None
    if form.is_valid():
        data = form.cleaned_data
        file, runs_of_file = data["file"], {"case": case, "run_a": data["a"], "run_b": data["b"]}
        try:
            outcome = read_outcome(file, limit=MAX_ON_PAGE, name=data["name"] or file.name[:120], **runs_of_file)
            outcomes.check_outcome(outcome)
            if action == ImportAction.IMPORT:
                outcomes.store_outcome(outcome=outcome, by=request.user)
                return redirect_with_message(
                    request, reverse("online_outcomes", args=[case.pk]), f"Outcome “{outcome}” imported."
                )
        except formats.BadFile as error:
            form.add_error("file", str(error))
        except ValidationError as error:
            add_errors(form, error)
    return _render(request, case, form, runs, None if form.errors else outcome)


@require_http_methods(["GET", "POST"])
def online_outcome_delete(request: HtmxRequest, case_id: int, outcome_id: int) -> HttpResponse:
    """Asks, then deletes an outcome."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    stored = OnlineOutcome.objects.select_related("run_a", "run_b")
    outcome = get_object_or_404(stored, case=case, pk=outcome_id)
    if request.method == "POST":
        outcomes.delete_outcome(outcome=outcome, by=request.user)
        return redirect_with_message(
            request, reverse("online_outcomes", args=[case.pk]), f"Outcome “{outcome}” deleted."
        )
    return render(request, "outcomes/delete.html", {"case": case, "outcome": outcome})


def _list_context(request: HtmxRequest, case: Case) -> dict[str, object]:
    """Returns what the list needs, and enqueues the comparisons whose figures are missing."""
    compared = outcomes.compare_outcomes(case)
    for row in compared:
        if row.stored is not None and row.is_pending:
            tasks.enqueue_comparison(row.stored)
    winners = outcomes.count_winners(compared)
    return {
        "case": case,
        "access": CaseAccess(case, request.user),
        "rows": compared,
        "winners": winners,
        "sentence": outcomes.describe_winners(winners),
        "pending": sum(row.is_pending for row in compared),
    }


def _render(
    request: HtmxRequest, case: Case, form: OutcomeForm, runs: list[Run], outcome: OnlineOutcome | None = None
) -> HttpResponse:
    """Renders the page; for a file sent by htmx the preview alone."""
    context: dict[str, object] = {"case": case, "form": form, "has_runs": len(runs) > 1, "outcome": outcome}
    if outcome is not None:
        context["preview"] = outcomes.describe_outcome(outcome, [str(outcome.run_a), str(outcome.run_b)])
        context["replaced"] = outcomes.find_replaced(outcome).first()
    status = 422 if form.errors else 200
    if request.htmx and request.method == "POST":
        return render(request, "outcomes/_preview.html", context, status=status)
    context |= _list_context(request, case)
    return render(request, "outcomes/outcomes.html", context, status=status)
