"""The ranges of the sliders of knobs, which editors set; they stay for all attempts of the case."""

from math import isnan

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods
from django_htmx.http import trigger_client_event

from relevancy import cases
from relevancy.models import Role
from relevancy.templatetags import numbers
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import redirect_to, toast

from .attempt_form import KNOB_PREFIX
from .tune_pane import fitting_range
from .workbench import open_workbench

PARTS = cases.KnobRange._fields
MAX_KNOBS = 50


@require_http_methods(["GET", "POST"])
def edit(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Shows and changes the ranges of the knobs that are sent as `knob.NAME`, or else of those of the newest attempt. A knob that is a
    text has no slider, so it is left out unless it has a range from before."""
    workbench = open_workbench(request, case_id, needs=Role.EDITOR)
    case = workbench.case
    sent = request.POST if request.method == "POST" else request.GET
    values = {key.removeprefix(KNOB_PREFIX): sent[key] for key in sent if key.startswith(KNOB_PREFIX)}
    if not values:
        newest = case.attempts.filter(archived_at=None).order_by("-number").values_list("knobs", flat=True).first()
        values = {name: str(value) for name, value in (newest or {}).items()}
    stored = cases.list_knob_ranges(case)
    texts = [name for name, value in values.items() if value.strip() and isnan(_number(value)) and name not in stored]
    values = {name: value for name, value in values.items() if name not in texts}
    values = dict(list(values.items())[:MAX_KNOBS])
    fitting = {name: fitting_range(_number(value, default=10)) for name, value in values.items()}
    entered = {name: [numbers.grade_text(number) for number in stored.get(name, ())] or [""] * 3 for name in values}
    errors: dict[str, list[str]] = {}
    if request.method == "POST":
        entered = {name: [sent.get(f"{part}.{name}", "").strip() for part in PARTS] for name in values}
        ranges = {
            name: cases.KnobRange(*map(_number, texts)) if any(texts) else None for name, texts in entered.items()
        }
        try:
            cases.set_knob_ranges(case=case, ranges=ranges)
        except ValidationError as error:
            errors = error.message_dict if hasattr(error, "error_dict") else {"": error.messages}
        else:
            if not request.htmx:
                return redirect_to(request, workbench.back_url)
            used = {name: knob_range or fitting[name] for name, knob_range in ranges.items()}
            return toast(
                trigger_client_event(HttpResponse(), "knob-ranges", {"ranges": used}), "Ranges of the knobs saved"
            )
    rows = [
        {
            "name": name,
            "error": " ".join(errors.get(name, ())),
            "fields": list(zip(PARTS, entered[name], map(numbers.grade_text, fitting[name]), strict=True)),
        }
        for name in values
    ]
    return workbench.render(
        "workbench/knob_ranges.html",
        status=422 if errors else 200,
        knobs=rows,
        texts=texts,
        values=values,
        problems=errors.get("", []),
    )


def _number(text: str, default: float = float("nan")) -> float:
    """Returns a number that was entered. What is not a number is refused by the service, or it is the value of a new knob."""
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return default
    return number if abs(number) < float("inf") else default
