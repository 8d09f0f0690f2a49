"""The manual order of the queries: moving a query to another position."""

from typing import cast

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST

from relevancy import queries
from relevancy.models import CaseQuery, Role, User
from relevancy.views.forms import FormData, form_error
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import conflict, redirect_to, toast

from .workbench import open_workbench

MAX_STEPS = 1000


class MoveForm(forms.Form):
    """Where a query is moved to: directly `before` or `after` another one, or by `steps` down (negative: up)."""

    before = forms.ModelChoiceField(CaseQuery.objects.none(), required=False)
    after = forms.ModelChoiceField(CaseQuery.objects.none(), required=False)
    steps = forms.IntegerField(required=False)

    def __init__(self, data: FormData, case_queries: "QuerySet[CaseQuery]") -> None:
        """case_queries: those of the case."""
        super().__init__(data)
        for side in ("before", "after"):
            neighbour = cast(forms.ModelChoiceField[CaseQuery], self.fields[side])
            neighbour.queryset = case_queries
            neighbour.error_messages["invalid_choice"] = "That query is no longer in this case. Reload the page."

    def clean_steps(self) -> int:
        steps: int = self.cleaned_data["steps"] or 0
        return max(-MAX_STEPS, min(steps, MAX_STEPS))

    def clean(self) -> dict[str, object]:
        data = self.cleaned_data
        if not self.errors and [data["before"], data["after"], data["steps"] or None].count(None) != 2:
            raise ValidationError("Specify exactly one of `before`, `after` and `steps`.")
        return data


@require_POST
def move(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Moves a query directly `before` or `after` another one, or by a number of `steps` down (negative: up). Returns the new list."""
    workbench = open_workbench(request, case_id, needs=Role.EDITOR)
    case_queries = workbench.case.case_queries.present().select_related("query", "case")
    case_query = get_object_or_404(case_queries, pk=case_query_id)
    form = MoveForm(request.POST, case_queries)
    try:
        _move(case_query, form, request.user)
    except ValidationError as error:
        return conflict(request, workbench.queries.url(), error)
    if not request.htmx:
        return redirect_to(request, workbench.queries.open_url(case_query))
    response = workbench.render("workbench/workbench.html#queries", is_fragment=True)
    if all(shown.pk != case_query.pk for shown in workbench.queries.page):
        page = "previous" if form.cleaned_data["steps"] < 0 else "next"
        return toast(response, f"“{case_query.query}” is now on the {page} page")
    return response


def _move(case_query: CaseQuery, form: MoveForm, by: User) -> None:
    if not form.is_valid():
        raise form_error(form)
    before, after, steps = (form.cleaned_data[name] for name in ("before", "after", "steps"))
    if steps:
        queries.move_by(case_query=case_query, steps=steps, by=by)
    else:
        queries.move(case=case_query.case, case_query=case_query, by=by, before=before, after=after)
