"""The measure section of the scorer form: parameters, formula, worked example."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from relevancy import scorers
from relevancy.views.requests import HtmxRequest

from . import descriptions
from .forms import ScorerForm


def measure_context(form: ScorerForm) -> dict[str, object]:
    """Returns the description of the measure in the form as `description`; None while the form is invalid."""
    if form.selected_kind != "measure":
        return {}
    if form.is_bound:
        form.is_valid()
        notation, scale = form.notation, form.cleaned_data.get("scale")
    else:
        values = {name.removeprefix("p_"): form.initial.get(name) for name in form.parameters}
        cutoff = form["cutoff"].value() if "cutoff" in form.fields else None
        notation = str(scorers.build_measure(form.measure_definition.name, values, cutoff))
        scale = scorers.parse_scale(str(form["scale"].value()))
    return {
        "description": descriptions.describe_measure(notation) if notation else None,
        "scale_advice": scorers.scale_advice(measure=notation, scale=scale) if notation and scale else "",
    }


@require_POST
def scorer_measure(request: HtmxRequest) -> HttpResponse:
    """The measure section of the form with its current values; with `of=shown`, only the formula and the example."""
    form = ScorerForm({**request.POST.dict(), "kind": "measure"})
    page = "scorers/_measure_shown.html" if request.GET.get("of") == "shown" else "scorers/_measure.html"
    return render(request, page, {"form": form, **measure_context(form)})
