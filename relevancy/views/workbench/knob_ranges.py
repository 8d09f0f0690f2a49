"""The ranges of the sliders of knobs, which editors set; they stay for all attempts of the case."""

from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods
from django_htmx.http import trigger_client_event

from relevancy import cases
from relevancy.models import Role
from relevancy.templatetags import numbers
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import redirect_to, toast

from .access import get_case
from .attempt_form import KNOB_PREFIX
from .tune_pane import fitting_range
from .workbench import Workbench

PARTS = ("lowest", "highest", "step")
MAX_KNOBS = 50


@dataclass(frozen=True)
class RangeRow:
    """A knob in the form.

    values: as text, in the order of `PARTS`; empty for a slider that fits the value. fitting: those of such a slider.
    error: what is wrong with it.
    """

    name: str
    values: tuple[str, ...]
    fitting: tuple[str, ...]
    error: str = ""

    @property
    def fields(self) -> list[tuple[str, str, str, str]]:
        """The fields: name, label, value and placeholder."""
        return [
            (f"{part}.{self.name}", f"{part.capitalize()} of {self.name}", value, placeholder)
            for part, value, placeholder in zip(PARTS, self.values, self.fitting, strict=True)
        ]


@require_http_methods(["GET", "POST"])
def edit(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Shows and changes the ranges of the knobs that are sent as `knob.NAME`, or else of those of the newest attempt."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    workbench = Workbench(request, case)
    sent = request.POST if request.method == "POST" else request.GET
    values = {key.removeprefix(KNOB_PREFIX): sent[key] for key in sent if key.startswith(KNOB_PREFIX)}
    if not values:
        newest = case.attempts.filter(archived_at=None).order_by("-number").values_list("knobs", flat=True).first()
        values = {name: str(value) for name, value in (newest or {}).items()}
    values = dict(list(values.items())[:MAX_KNOBS])
    stored, errors = cases.list_knob_ranges(case), {}
    if request.method == "POST":
        entered = {name: tuple(sent.get(f"{part}.{name}", "").strip() for part in PARTS) for name in values}
        try:
            ranges = {name: _read_range(texts) for name, texts in entered.items()}
            cases.set_knob_ranges(case=case, ranges=ranges)
        except ValidationError as error:
            errors = error.message_dict if hasattr(error, "error_dict") else {"": error.messages}
        else:
            if not request.htmx:
                return redirect_to(request, workbench.queries.url())
            used = {name: knob_range or fitting_range(_number(values[name])) for name, knob_range in ranges.items()}
            detail = {
                name: [knob_range.lowest, knob_range.highest, knob_range.step] for name, knob_range in used.items()
            }
            response = trigger_client_event(HttpResponse(), "knob-ranges", {"ranges": detail})
            return toast(response, "Ranges of the knobs saved")
    else:
        entered = {name: _texts(stored[name]) if name in stored else ("", "", "") for name in values}
    rows = [
        RangeRow(name, entered[name], _texts(fitting_range(_number(value))), " ".join(errors.get(name, [])))
        for name, value in values.items()
    ]
    context = {**workbench.base_context(), "rows": rows, "values": values, "problems": errors.get("", [])}
    return render(request, "workbench/knob_ranges.html", context, status=422 if errors else 200)


def _read_range(texts: tuple[str, ...]) -> cases.KnobRange | None:
    """Returns a range; None if nothing was entered. What is not a number is refused by the service."""
    return cases.KnobRange(*map(_number_or_nan, texts)) if any(texts) else None


def _number_or_nan(text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return float("nan")


def _number(text: str) -> float:
    """The value of a knob; 10 for what is not a number, as for a new knob."""
    value = _number_or_nan(text)
    return value if abs(value) < float("inf") else 10.0


def _texts(knob_range: cases.KnobRange) -> tuple[str, ...]:
    return tuple(numbers.grade_text(value) for value in (knob_range.lowest, knob_range.highest, knob_range.step))
