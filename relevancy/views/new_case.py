"""A new case in four steps. Nothing is made before the last one; then all of it in one transaction."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from relevancy import cases, evaluation, tasks
from relevancy.models import Endpoint, UnreadableSecret

from .forms import QueriesForm, ScaleForm, refuse
from .new_case_engine import checked, described, endpoint, endpoint_again, fields, fields_form, page, where_form
from .wizard import STEPS, Draft, before

SHOWN_AT_MOST = 20  # repeated or refused lines, by name


@require_http_methods(["GET", "POST"])
def new_case(request: HttpRequest, step: str = "") -> HttpResponse:
    """One step; an earlier one that is not done comes first. `do=back` keeps what was typed and checks nothing."""
    if not step:
        return _begin(request)
    draft = Draft(request)
    if step not in STEPS:
        raise Http404
    if STEPS.index(step) > STEPS.index(draft.first_open()):
        return redirect("new_case_step", draft.first_open())
    if request.method == "POST":
        draft.keep(step, request.POST)
        if request.POST.get("do") == "back":
            return redirect("new_case_step", before(step))
    return VIEWS[step](request, draft)


def _begin(request: HttpRequest) -> HttpResponse:
    """The address without a step: on with what was typed, or afresh; `?engine=static` comes from the ways to start."""
    draft = Draft(request)
    if "afresh" in request.GET:
        draft.clear()
        return redirect("new_case_step", STEPS[0])
    if request.GET.get("engine"):
        draft.keep("endpoint", {**draft.typed("endpoint"), "engine": request.GET["engine"], "endpoint_id": ""})
    return redirect("new_case_step", STEPS[0])


def scale(request: HttpRequest, draft: Draft) -> HttpResponse:
    form = ScaleForm(request.POST or None, user=request.user, initial=draft.typed("scale"))
    if form.is_valid():
        draft.finish("scale")
        return redirect("new_case_step", "endpoint")
    queryset = form.fields["scorer"].queryset.prefetch_related("versions")  # type: ignore[attr-defined]
    scorers = [(scorer, max(scorer.versions.all(), key=lambda version: version.number)) for scorer in queryset]
    return page(request, draft, "scale", form, scorers=scorers)


def queries(request: HttpRequest, draft: Draft) -> HttpResponse:
    """Queries, read and counted; lines that cannot be queries stop the case from being made, unless they are left out on purpose."""
    found = endpoint_again(draft, request)
    plan = _plan(draft, request, found) if found else None
    if plan is None:
        return redirect("new_case_step", "endpoint" if found is None else draft.first_open())
    form = QueriesForm(request.POST or None, initial=_queries_offered(draft, found))
    book = plan["book"]
    about: dict[str, Any] = {"book": book, "book_queries": book.queries.live().count() if book else 0}
    if not form.is_valid():
        return page(request, draft, "queries", form, **about)
    try:
        pasted = cases.making.read_queries(form.cleaned_data["queries"].splitlines())
    except cases.Refused as reason:
        refuse(form, reason)
        return page(request, draft, "queries", form, **about)
    do = request.POST.get("do")
    about |= {
        "pasted": pasted,
        "again": sorted(set(pasted.again))[:SHOWN_AT_MOST],
        "lines": pasted.refused[:SHOWN_AT_MOST],
    }
    if not pasted.texts and not about["book_queries"]:
        form.add_error("queries", "Enter at least one query; twenty that matter are a good start.")
    if do == "check" or form.errors or (pasted.refused and do != "without"):
        return page(request, draft, "queries", form, **about, refused=bool(pasted.refused))
    return _make(request, draft, form, plan | {"texts": pasted.texts}, about)


def _queries_offered(draft: Draft, found: Endpoint | None) -> dict[str, Any]:
    typed = draft.typed("queries")
    if typed or found is None or found.engine != "static":
        return typed
    try:
        return {"queries": "\n".join(cases.uploads.queries_of(found.url))}
    except cases.Refused:
        return typed  # the run will say that the file is gone


def _plan(draft: Draft, request: HttpRequest, found: Endpoint | None) -> dict[str, Any] | None:
    """The arguments of a `Plan` but its queries, from the steps before, all of them checked again; None if one has to be looked at."""
    if found is None:
        return None
    about, shown = ScaleForm(draft.typed("scale"), user=request.user), fields_form(draft, found, draft.typed("fields"))
    for step, good in (("scale", about.is_valid()), ("fields", shown.is_valid() and checked(shown, found))):
        if not good:
            draft.keep(step, draft.typed(step))
            messages.warning(request, "Something changed meanwhile. Look at this step again.")
            return None
    data = about.cleaned_data
    where = where_form(draft, request, draft.typed("endpoint"))
    where.is_valid()
    return {
        "name": data["name"],
        "scorer": data["scorer"],
        "scale": data.get("grades") if data["scale_from"] == ScaleForm.OWN else None,
        "book": data["book"] if data["scale_from"] == ScaleForm.BOOK else None,
        "endpoint": found if found.pk else described(where, draft),
        "template": shown.cleaned_data["template"],
        "fields": shown.chosen.spec,
    }


def _make(
    request: HttpRequest, draft: Draft, form: QueriesForm, plan: dict[str, Any], about: dict[str, Any]
) -> HttpResponse:
    try:
        run = cases.making.make(plan=cases.making.Plan(**plan), by=request.user)
    except (cases.Refused, evaluation.CannotRun, evaluation.EngineError, UnreadableSecret) as reason:
        form.add_error(None, f"The case was not made. {reason}")
        return page(request, draft, "queries", form, **about)
    transaction.on_commit(partial(tasks.wake, run))
    draft.clear()
    pasted = about["pasted"]
    also = f" {len(pasted.again):,} repeated lines were taken once." if pasted.again else ""
    also += f" {len(pasted.refused):,} lines were left out." if pasted.refused else ""
    messages.success(request, f"{plan['name']} is made, with {run.queries:,} queries; its first run has begun.{also}")
    return redirect("case", run.case_id)


VIEWS: dict[str, Callable[[HttpRequest, Draft], HttpResponse]] = {
    "scale": scale,
    "endpoint": endpoint,
    "fields": fields,
    "queries": queries,
}
