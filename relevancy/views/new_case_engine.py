"""The two steps of a new case in which its engine is asked: endpoint and fields."""

import re
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from relevancy import cases
from relevancy.models import Endpoint

from .forms import FieldsForm, WhereForm, refuse
from .wizard import Draft

PLACE = re.compile(r"Line (\d+), column (\d+)")


def page(request: HttpRequest, draft: Draft, step: str, form: forms.Form, **more: Any) -> HttpResponse:
    context = {"form": form, "step": step, "way": draft.way(step), "typed": bool(draft.data["typed"]), **more}
    return render(request, f"new_case/{step}.html", context, status=422 if form.errors or more.get("refused") else 200)


def endpoint(request: HttpRequest, draft: Draft) -> HttpResponse:
    """Chosen or described, and asked: an answer leads on, a failure can be tried again or passed over on purpose."""
    if request.method == "GET":
        return page(request, draft, "endpoint", where_form(draft, request))
    wrong_file = _take_file(request, draft)
    form = where_form(draft, request, request.POST)
    if form.is_valid() and not wrong_file:
        try:
            found = _endpoint(form, draft, request.user)
        except cases.Refused as reason:
            refuse(form, reason)
            return page(request, draft, "endpoint", form)
        return _tried(request, draft, form, found)
    if wrong_file:
        refuse(form, wrong_file)
    return page(request, draft, "endpoint", form)


def where_form(draft: Draft, request: HttpRequest, data: Any = None) -> WhereForm:
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
    return cases.endpoints.draft(**described(form, draft), by=user)


def described(form: WhereForm, draft: Draft) -> dict[str, Any]:
    data = form.cleaned_data
    static = data["engine"] == "static"
    return {
        "name": data["name"],
        "engine": data["engine"],
        "url": draft.data["file"] if static else data["url"],
        "credentials": {} if static else draft.credentials(),
        "options": form.options,
    }


def _tried(request: HttpRequest, draft: Draft, form: WhereForm, found: Endpoint) -> HttpResponse:
    do, text = request.POST.get("do"), form.cleaned_data["text"]
    if do == "skip":
        trial = cases.offers.Trial("", [], None)
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
    return page(request, draft, "endpoint", form, **context)


def _remember(draft: Draft, found: Endpoint, trial: cases.offers.Trial) -> None:
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


def endpoint_again(draft: Draft, request: HttpRequest) -> Endpoint | None:
    """The endpoint of the step before, checked again: it may have been archived or taken away meanwhile."""
    form = where_form(draft, request, draft.typed("endpoint"))
    try:
        if form.is_valid():
            return _endpoint(form, draft, request.user)
    except cases.Refused:
        pass
    messages.warning(request, "The endpoint cannot be used any more as it was described. Look at it again.")
    return None


def fields(request: HttpRequest, draft: Draft) -> HttpResponse:
    """Which fields are shown, and the template; checked before it is kept, and tried on request."""
    found = endpoint_again(draft, request)
    if found is None:
        return redirect("new_case_step", "endpoint")
    form = fields_form(draft, found, request.POST or None)
    do = request.POST.get("do")
    if request.method == "GET" or not form.is_valid():
        return _fields_page(request, draft, form, found)
    if do == "suggest":
        return _fields_page(request, draft, _with_template(draft, found, form), found)
    if not checked(form, found):
        return _fields_page(request, draft, form, found)
    if do == "try":
        return _fields_page(request, draft, form, found, **_documents(form, found))
    draft.finish("fields")
    return redirect("new_case_step", "queries")


def _fields_page(request: HttpRequest, draft: Draft, form: FieldsForm, found: Endpoint, **more: Any) -> HttpResponse:
    kind = cases.offers.kind(found.engine)
    return page(
        request, draft, "fields", form, names=draft.data["found"].get("names", []), kind=kind, endpoint=found, **more
    )


def fields_form(draft: Draft, found: Endpoint, data: Any = None) -> FieldsForm:
    about = draft.data["found"]
    offer = cases.offers.suggest_fields(engine=found.engine, names=about.get("names", []))
    initial = {
        "id": offer.id,
        "title": offer.title,
        "thumb": offer.thumb,
        "more": " ".join(offer.more),
        "template": _suggested(found, offer, about.get("words")),
        "text": about.get("text", ""),
    }
    form = FieldsForm(data, initial={**initial, **draft.typed("fields")})
    kind = cases.offers.kind(found.engine)
    form.fields["template"].widget.attrs["data-editor"] = cases.attempts.syntax(found)
    if not kind.asks:
        form.fields["template"].widget = forms.HiddenInput()
    return form


def _suggested(found: Endpoint, chosen: cases.offers.Fields, words: list[str] | None) -> str:
    return cases.offers.suggest_template(engine=found.engine, fields=chosen, words=words, options=found.options)


def _with_template(draft: Draft, found: Endpoint, form: FieldsForm) -> FieldsForm:
    template = _suggested(found, form.chosen, draft.data["found"].get("words"))
    draft.keep("fields", {**draft.typed("fields"), "template": template})
    return fields_form(draft, found)


def checked(form: FieldsForm, found: Endpoint) -> bool:
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
