"""The part of the form that belongs to a measure: its parameters, its formula, a worked example."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from relevancy import evaluation

from . import scorers_show
from .forms import ScorerForm


def measure_context(form: ScorerForm) -> dict[str, Any]:
    """The formula and the example of the measure as it is filled in; None while something in it is wrong."""
    if form.which != "measure":
        return {}
    if form.is_bound:
        form.errors  # noqa: B018 - reads the form
        return {"about": scorers_show.about(form.written) if form.written else None}
    values = {name.removeprefix("p_"): form.initial.get(name) for name in form.parameters}
    cutoff = form["cutoff"].value() if "cutoff" in form.fields else None
    return {"about": scorers_show.about(evaluation.write_measure(form.definition.name, values, cutoff))}


@require_POST
def scorer_measure(request: HttpRequest) -> HttpResponse:
    """The part of the form that belongs to a measure, as it is filled in now; of=shown: only its formula and example."""
    form = ScorerForm({**request.POST.dict(), "kind": "measure"})
    page = "scorer/_measure_shown.html" if request.GET.get("of") == "shown" else "scorer/_measure.html"
    return render(request, page, {"form": form, **measure_context(form)})
