"""Attempts are edited and run, runs are stopped and completed."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST

from relevancy import cases, evaluation, tasks
from relevancy.models import Attempt, Endpoint, Run

from .answers import as_json, go, refused, said
from .bench import Bench, editable, find_case
from .listing import STATES, number

SECRETS = ("endpoint__credentials", "endpoint__headers")  # read only when an engine is asked


@require_POST
def run(request: HttpRequest, case_id: int) -> HttpResponse:
    """Save what the tune pane says as the next attempt (or the same, if nothing changed) and run it."""
    bench = editable(request, case_id)
    draft = _Draft(bench, request)
    try:
        # An attempt that cannot be run must not stay behind: pressing Run again would make another one.
        with transaction.atomic():
            started = evaluation.start(attempt=draft.save(), by=request.user)
    except cases.Refused as reason:
        return draft.refused(reason)
    except (evaluation.CannotRun, evaluation.EngineError) as reason:
        return draft.stays(reason)
    transaction.on_commit(lambda: tasks.wake(started))
    return go(request, bench.url(run=""))


@require_POST
def preview(request: HttpRequest, case_id: int) -> HttpResponse:
    """What the template in the pane becomes for one query."""
    bench = Bench(request, find_case(request, case_id))
    draft = _Draft(bench, request)
    entry = bench.case.case_queries.present().select_related("query").order_by("position").first()
    text, options = (entry.query.text, entry.options) if entry else ("example", {})
    try:
        sent = as_json(cases.attempts.preview(attempt=draft.unsaved(), text=text, options=options))
    except (cases.Refused, evaluation.EngineError) as reason:
        context = {"bench": bench, "text": text, "error": str(reason)}
        return render(request, "case/preview.html", context, status=422)
    return render(request, "case/preview.html", {"bench": bench, "text": text, "sent": sent})


@require_POST
def cancel(request: HttpRequest, case_id: int, number: int) -> HttpResponse:
    """Stop a run; what was searched stays."""
    bench = editable(request, case_id)
    found = get_object_or_404(Run, case=bench.case, number=number)
    if not found.under_way:
        return refused(request, bench.url(), f"Run {number} is over already: {found.get_status_display().lower()}.")
    evaluation.cancel(run=found)
    return said(request, bench.url(), f"Run {number} is being stopped. What was searched stays.")


@require_POST
def complete(request: HttpRequest, case_id: int, number: int) -> HttpResponse:
    """Search what failed, is new or was edited since, and let it join the run."""
    bench = editable(request, case_id)
    stopped = get_object_or_404(
        Run.objects.select_related("attempt__endpoint", "attempt__case"), case=bench.case, number=number
    )
    try:
        again = evaluation.complete(run=stopped, by=request.user)
    except (evaluation.CannotRun, evaluation.EngineError) as reason:
        return refused(request, bench.url(), reason)
    transaction.on_commit(lambda: tasks.wake(again))
    return go(request, bench.url(run=""))


class _Draft:
    """What the tune pane says, before it is an attempt."""

    def __init__(self, bench: Bench, request: HttpRequest) -> None:
        self.bench = bench
        self.request = request
        self.data = request.POST
        attempts = Attempt.objects.filter(case=bench.case).select_related("endpoint", "case").defer(*SECRETS)
        self.parent = attempts.filter(number=number(self.data.get("parent", ""))).first()

    def _endpoint(self) -> Endpoint:
        wanted = number(self.data.get("endpoint", ""))
        found = Endpoint.objects.visible_to(self.request.user).defer("credentials", "headers").filter(pk=wanted).first()
        if found is None:
            raise cases.Refused("Choose an endpoint that is there.", field="endpoint")
        return found

    def _values(self) -> dict[str, Any]:
        depth = self.data.get("depth", "10").strip()
        if not number(depth):
            raise cases.Refused(f"“{depth[:20]}” is no number of results: choose 1 to 1,000.", field="depth")
        return {
            "endpoint": self._endpoint(),
            "template": self.data.get("template", "").replace("\r\n", "\n"),
            "fields": self.data.get("fields", ""),
            "knobs": {
                name.removeprefix("knob."): value for name, value in self.data.items() if name.startswith("knob.")
            },
            "depth": int(depth),
        }

    def save(self) -> Attempt:
        """The attempt; raises `Refused`."""
        return cases.attempts.save(
            case=self.bench.case,
            by=self.request.user,
            parent=self.parent,
            escape=bool(self.data.get("escape")),
            name=self.data.get("name", "").strip()[:120],
            **self._values(),
        )

    def unsaved(self) -> Attempt:
        """An attempt to look at, checked but not stored; raises `Refused`."""
        values = self._values()
        values["knobs"] = cases.attempts.check(**values)
        return Attempt(case=self.bench.case, number=0, escape=bool(self.data.get("escape")), **values)

    def refused(self, reason: cases.Refused) -> HttpResponse:
        """The pane as it was typed, with the error at its field."""
        return self._again({"error": {reason.field: str(reason)}, "reason": reason})

    def stays(self, reason: Exception) -> HttpResponse:
        """The pane as it was typed, and why it cannot be run now: a message for htmx, which leaves the page, or on the page."""
        if self.request.htmx:  # type: ignore[attr-defined]
            return refused(self.request, self.bench.url(), reason)
        messages.error(self.request, str(reason))
        return self._again({})

    def _again(self, said: dict[str, Any]) -> HttpResponse:
        tune = self.bench.tune(self.data.get("parent", ""), self.data)
        context = {
            "bench": self.bench,
            "tune": tune,
            "typed": self.data,
            "states": STATES,
            **said,
        }
        template = "case/_tune.html" if self.request.htmx else "case/workbench.html"  # type: ignore[attr-defined]
        return render(self.request, template, context, status=422)
