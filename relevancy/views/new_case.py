"""A new case in four steps. Nothing is made before the last one; then all of it in one transaction."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from relevancy import cases, evaluation, tasks
from relevancy.models import Endpoint, UnreadableSecret

from .forms import FieldsForm, QueriesForm, ScaleForm, WhereForm, refuse
from .wizard import STEPS, Draft, before

PLACE = re.compile(r"Line (\d+), column (\d+)")
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


def _page(request: HttpRequest, draft: Draft, step: str, form: forms.Form, **more: Any) -> HttpResponse:
    context = {"form": form, "step": step, "way": draft.way(step), "typed": bool(draft.data["typed"]), **more}
    return render(request, f"new_case/{step}.html", context, status=422 if form.errors or more.get("refused") else 200)


def scale(request: HttpRequest, draft: Draft) -> HttpResponse:
    form = ScaleForm(request.POST or None, user=request.user, initial=draft.typed("scale"))
    if form.is_valid():
        draft.finish("scale")
        return redirect("new_case_step", "endpoint")
    queryset = form.fields["scorer"].queryset.prefetch_related("versions")  # type: ignore[attr-defined]
    return _page(request, draft, "scale", form, scorers=[(scorer, max(scorer.versions.all(), key=lambda v: v.number)) for scorer in queryset])  # fmt: skip


def endpoint(request: HttpRequest, draft: Draft) -> HttpResponse:
    """Chosen or described, and asked: an answer leads on, a failure can be tried again or passed over on purpose."""
    if request.method == "GET":
        return _page(request, draft, "endpoint", _where(draft, request))
    wrong_file = _take_file(request, draft)
    form = _where(draft, request, request.POST)
    if form.is_valid() and not wrong_file:
        try:
            found = _endpoint(form, draft, request.user)
        except cases.Refused as reason:
            refuse(form, reason)
            return _page(request, draft, "endpoint", form)
        return _tried(request, draft, form, found)
    if wrong_file:
        refuse(form, wrong_file)
    return _page(request, draft, "endpoint", form)


def _where(draft: Draft, request: HttpRequest, data: Any = None) -> WhereForm:
    return WhereForm(
        data,
        user=request.user,
        sealed=draft.data["sealed"],
        stored_file=draft.data["file"],
        initial={"engine": "embedded", **draft.typed("endpoint")},
    )


def _take_file(request: HttpRequest, draft: Draft) -> cases.Refused | None:
    """Keep a file of rankings whatever else is wrong with the form, so that it need not be chosen twice."""
    if "file" not in request.FILES or request.POST.get("endpoint_id") or not cases.endpoints.may_create(request.user):
        return None
    try:
        upload = request.FILES["file"]
        draft.data["file"] = cases.uploads.store(content=upload.read(), name=upload.name or "").name  # type: ignore[union-attr]
        draft.save()
    except cases.Refused as reason:
        return reason
    return None


def _endpoint(form: WhereForm, draft: Draft, user: Any) -> Endpoint:
    """The chosen endpoint, or one that is not stored yet. Raises `Refused`."""
    chosen: Endpoint | None = form.cleaned_data["endpoint_id"]
    if chosen is not None:
        return chosen
    if form.credentials or form.cleaned_data.get("clear"):
        draft.data["sealed"] = cases.making.seal(form.credentials)
        draft.save()
    return cases.endpoints.draft(**_described(form, draft), by=user)


def _described(form: WhereForm, draft: Draft) -> dict[str, Any]:
    data = form.cleaned_data
    static = data["engine"] == "static"
    return {
        "name": data["name"],
        "engine": data["engine"],
        "url": draft.data["file"] if static else data["url"],
        "credentials": {} if static else draft.credentials(),
    }


def _tried(request: HttpRequest, draft: Draft, form: WhereForm, found: Endpoint) -> HttpResponse:
    do, text = request.POST.get("do"), form.cleaned_data["text"]
    if do == "skip":
        trial = cases.endpoints.Trial("", [], None)
    else:
        text = text or cases.uploads.sample_query(found)
        trial = cases.offers.trial(endpoint=found, text=text)
    if do in {"next", "skip"} and not trial.error:
        _remember(draft, found, trial)
        return redirect("new_case_step", "fields")
    context = {"trial": trial, "text": text, "refused": bool(trial.error)}
    if not trial.error:
        spec = cases.offers.suggest_fields(engine=found.engine, names=trial.fields).spec
        context["documents"] = cases.offers.documents(endpoint=found, trial=trial, fields=spec)
    return _page(request, draft, "endpoint", form, **context)


def _remember(draft: Draft, found: Endpoint, trial: cases.endpoints.Trial) -> None:
    """What the trial said about fields; choices that were made for another endpoint are forgotten."""
    hits = [hit.fields for hit in trial.page.hits] if trial.page else []
    if draft.data["found"].get("at") != list(draft.asks_at()):
        draft.data["typed"].pop("fields", None)
        draft.data["typed"].pop("queries", None)
    draft.data["found"] = {
        "at": list(draft.asks_at()),
        "names": trial.fields,
        "words": cases.offers.text_fields(hits) if hits else None,
        "text": draft.typed("endpoint").get("text", ""),
    }
    draft.finish("endpoint")


def _again(draft: Draft, request: HttpRequest) -> Endpoint | None:
    """The endpoint of the step before, checked again: it may have been archived or taken away meanwhile."""
    form = _where(draft, request, draft.typed("endpoint"))
    try:
        if form.is_valid():
            return _endpoint(form, draft, request.user)
    except cases.Refused:
        pass
    messages.warning(request, "The endpoint cannot be used any more as it was described. Look at it again.")
    return None


def fields(request: HttpRequest, draft: Draft) -> HttpResponse:
    """Which fields are shown, and the template; checked before it is kept, and tried on request."""
    found = _again(draft, request)
    if found is None:
        return redirect("new_case_step", "endpoint")
    form = _fields_form(draft, found, request.POST or None)
    do = request.POST.get("do")
    if request.method == "GET" or not form.is_valid():
        return _fields_page(request, draft, form, found)
    if do == "suggest":
        return _fields_page(request, draft, _with_template(draft, found, form), found)
    if not _checked(form, found):
        return _fields_page(request, draft, form, found)
    if do == "try":
        return _fields_page(request, draft, form, found, **_documents(form, found))
    draft.finish("fields")
    return redirect("new_case_step", "queries")


def _fields_page(request: HttpRequest, draft: Draft, form: FieldsForm, found: Endpoint, **more: Any) -> HttpResponse:
    kind = cases.offers.kind(found.engine)
    return _page(
        request, draft, "fields", form, names=draft.data["found"].get("names", []), kind=kind, endpoint=found, **more
    )


def _fields_form(draft: Draft, found: Endpoint, data: Any = None) -> FieldsForm:
    about = draft.data["found"]
    offer = cases.offers.suggest_fields(engine=found.engine, names=about.get("names", []))
    initial = {
        "id": offer.id,
        "title": offer.title,
        "thumb": offer.thumb,
        "more": " ".join(offer.more),
        "template": cases.offers.suggest_template(engine=found.engine, fields=offer, words=about.get("words")),
        "text": about.get("text", ""),
    }
    form = FieldsForm(data, initial={**initial, **draft.typed("fields")})
    kind = cases.offers.kind(found.engine)
    form.fields["template"].widget.attrs["data-editor"] = kind.syntax
    if not kind.asks:
        form.fields["template"].widget = forms.HiddenInput()
    return form


def _with_template(draft: Draft, found: Endpoint, form: FieldsForm) -> FieldsForm:
    words = draft.data["found"].get("words")
    template = cases.offers.suggest_template(engine=found.engine, fields=form.chosen, words=words)
    draft.keep("fields", {**draft.typed("fields"), "template": template})
    return _fields_form(draft, found)


def _checked(form: FieldsForm, found: Endpoint) -> bool:
    """Whether template and fields can be used; what is wrong stands at its field, and marks its place in the editor."""
    template = form.cleaned_data["template"]
    try:
        cases.attempts.check(endpoint=found, template=template, fields=form.chosen.spec, knobs={}, depth=10)
    except cases.Refused as reason:
        form.add_error("template" if reason.field == "template" else "more", str(reason))
        if reason.field == "template" and (at := PLACE.match(str(reason))):
            form.fields["template"].widget.attrs |= {"data-error-line": at[1], "data-error-column": at[2]}
        return False
    return True


def _documents(form: FieldsForm, found: Endpoint) -> dict[str, Any]:
    spec, text = form.chosen.spec, form.cleaned_data["text"] or cases.uploads.sample_query(found)
    if not text:
        form.add_error("text", "Enter a query to try it with.")
        return {}
    trial = cases.offers.trial(endpoint=found, text=text, template=form.cleaned_data["template"], fields=spec)
    shown = [] if trial.error else cases.offers.documents(endpoint=found, trial=trial, fields=spec)
    return {"trial": trial, "text": text, "documents": shown, "refused": bool(trial.error)}


def queries(request: HttpRequest, draft: Draft) -> HttpResponse:
    """Queries, read and counted; lines that cannot be queries stop the case from being made, unless they are left out on purpose."""
    found = _again(draft, request)
    plan = _plan(draft, request, found) if found else None
    if plan is None:
        return redirect("new_case_step", "endpoint" if found is None else draft.first_open())
    form = QueriesForm(request.POST or None, initial=_queries_offered(draft, found))
    about: dict[str, Any] = {
        "book": plan["book"],
        "book_queries": plan["book"].queries.live().count() if plan["book"] else 0,
    }
    if not form.is_valid():
        return _page(request, draft, "queries", form, **about)
    try:
        pasted = cases.making.read_queries(form.cleaned_data["queries"].splitlines())
    except cases.Refused as reason:
        refuse(form, reason)
        return _page(request, draft, "queries", form, **about)
    do = request.POST.get("do")
    about |= {
        "pasted": pasted,
        "again": sorted(set(pasted.again))[:SHOWN_AT_MOST],
        "lines": pasted.refused[:SHOWN_AT_MOST],
    }
    if not pasted.texts and not about["book_queries"]:
        form.add_error("queries", "Enter at least one query; twenty that matter are a good start.")
    if do == "check" or form.errors or (pasted.refused and do != "without"):
        return _page(request, draft, "queries", form, **about, refused=bool(pasted.refused))
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
    about, shown = ScaleForm(draft.typed("scale"), user=request.user), _fields_form(draft, found, draft.typed("fields"))
    for step, good in (("scale", about.is_valid()), ("fields", shown.is_valid() and _checked(shown, found))):
        if not good:
            draft.keep(step, draft.typed(step))
            messages.warning(request, "Something changed meanwhile. Look at this step again.")
            return None
    data = about.cleaned_data
    where = _where(draft, request, draft.typed("endpoint"))
    where.is_valid()
    return {
        "name": data["name"],
        "scorer": data["scorer"],
        "scale": data.get("grades") if data["scale_from"] == ScaleForm.OWN else None,
        "book": data["book"] if data["scale_from"] == ScaleForm.BOOK else None,
        "endpoint": found if found.pk else _described(where, draft),
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
        return _page(request, draft, "queries", form, **about)
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
