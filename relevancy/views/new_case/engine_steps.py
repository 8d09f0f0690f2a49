"""The two steps of a new case that contact its engine: endpoint and fields."""

from collections.abc import Mapping

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render

from relevancy import cases, endpoints, formats, runs
from relevancy.engines.errors import EngineError
from relevancy.formats.documents import documents_file
from relevancy.models import Endpoint, User
from relevancy.models.errors import error_fields, error_text
from relevancy.views.forms import FormData, add_errors, mark_location
from relevancy.views.requests import HtmxRequest, submitted
from relevancy.wording import counted

from .forms import EndpointStepForm, FieldsForm
from .wizard import StepAction, WizardState


def render_step(
    request: HtmxRequest,
    state: WizardState,
    step: str,
    form: forms.BaseForm,
    context: Mapping[str, object] | None = None,
    *,
    is_invalid: bool = False,
) -> HttpResponse:
    """Renders the page of a step, with what its template needs besides the form; status 422 if the form or the rest is invalid."""
    status = 422 if form.errors or is_invalid else 200
    frame = {"form": form, "step": step, "steps": state.steps(step), "is_empty": state.is_empty}
    return render(request, f"new_case/{step}.html", {**(context or {}), **frame}, status=status)


def endpoint_step(request: HtmxRequest, state: WizardState) -> HttpResponse:
    """Choose or describe an endpoint. It is tested; a failed test can be repeated or skipped."""
    if request.method == "GET":
        return render_step(request, state, "endpoint", endpoint_form(request, state))
    if submitted(request, StepAction, default=StepAction.NEXT) == StepAction.NO_ENGINE:
        state.choose_no_engine()
        return redirect("new_case_step", "queries")
    file_error = _store_file(request, state)
    data = request.POST.copy()
    if "switch_to" in data:  # another engine was recognized
        data["engine"] = request.POST["switch_to"]
        state.enter("endpoint", data)
    form = endpoint_form(request, state, data)
    if form.is_valid() and not file_error:
        try:
            endpoint = _endpoint(form, state, request.user)
        except ValidationError as error:
            add_errors(form, error)
            return render_step(request, state, "endpoint", form)
        if not _load_documents(request, form, endpoint):
            return render_step(request, state, "endpoint", form)
        return _test_endpoint(request, state, form, endpoint)
    if file_error:
        add_errors(form, file_error)
    return render_step(request, state, "endpoint", form)


def endpoint_form(request: HtmxRequest, state: WizardState, data: FormData | None = None) -> EndpointStepForm:
    """Returns the form of the step, bound to `data` if given."""
    return EndpointStepForm(
        data,
        user=request.user,
        sealed=state.sealed,
        stored_file=state.file,
        initial={"engine": endpoints.default_engine(), **state.entered("endpoint")},
    )


def _store_file(request: HtmxRequest, state: WizardState) -> ValidationError | None:
    """Stores an uploaded file even if other fields are wrong, so that it is uploaded only once. Returns what is wrong with it."""
    engine, upload = request.POST.get("engine", ""), request.FILES.get("file")
    if upload is None or request.POST.get("endpoint_id") or not endpoints.may_create(request.user):
        return None
    if not endpoints.is_file_engine(engine):
        return None
    try:
        content, name = upload.read(), upload.name or ""
        state.file = endpoints.uploads.store(engine=engine, content=content, name=name, by=request.user)
    except ValidationError as error:
        return error
    state.save()
    return None


def _load_documents(request: HtmxRequest, form: EndpointStepForm, endpoint: Endpoint) -> bool:
    """Fills a new index on this server with uploaded documents, if there are any. Returns False after adding an error to the form."""
    upload, name = request.FILES.get("documents"), endpoint.url
    if upload is None or endpoint.pk or endpoints.get_engine(endpoint.engine).address.kind != "folder":
        return True
    try:
        if endpoints.indexes.is_present(engine=endpoint.engine, name=name):
            raise ValidationError(
                f"There is already an index “{name}”. Choose another name, or no file to use the index."
            )
        text = formats.decode(upload.read())
        if not text.strip():
            raise ValidationError("The file is empty. Choose a file with at least one document.")
        count = documents_file.import_documents(engine=endpoint.engine, url=name, text=text, by=request.user)
    except ValidationError as error:
        form.add_error("documents", error_text(error))
        return False
    except (formats.BadFile, EngineError) as error:
        form.add_error("documents", str(error))
        return False
    messages.success(request, f"{counted(count, 'document')} loaded into the index “{name}”, which belongs to you.")
    return True


def _endpoint(form: EndpointStepForm, state: WizardState, user: User) -> Endpoint:
    """Returns the chosen endpoint, or a new one that is not saved. Raises `ValidationError`."""
    data = form.cleaned_data
    chosen: Endpoint | None = data["endpoint_id"]
    if chosen is not None:
        return chosen
    if form.credentials or data.get("clear"):
        state.sealed = cases.seal(form.credentials)
        state.save()
    settings = form.settings
    if endpoints.is_file_engine(settings["engine"]):
        settings |= {"url": state.file, "credentials": {}}
    else:
        settings["credentials"] = state.credentials()
    return endpoints.build_endpoint(by=user, **settings)


def _test_endpoint(
    request: HtmxRequest, state: WizardState, form: EndpointStepForm, endpoint: Endpoint
) -> HttpResponse:
    action, text = submitted(request, StepAction, default=StepAction.NEXT), form.cleaned_data["text"]
    if action == StepAction.SKIP:
        connection_test = endpoints.ConnectionTest("", [], None)
    else:
        text = text or endpoints.sample_query(endpoint)
        connection_test = endpoints.test_connection(endpoint=endpoint, text=text)
    if action != StepAction.TRY and not connection_test.error:
        _remember_test(state, connection_test)
        return redirect("new_case_step", "fields")
    context = {"connection_test": connection_test}
    return render_step(request, state, "endpoint", form, context, is_invalid=bool(connection_test.error))


def _remember_test(state: WizardState, connection_test: endpoints.ConnectionTest) -> None:
    """Keeps the fields that the test returned; fields and queries chosen for another endpoint are discarded."""
    documents = [hit.fields for hit in connection_test.page.hits] if connection_test.page else []
    if state.tested.get("endpoint") != state.endpoint_identity():
        state.forget("fields", "queries")
    state.tested = {
        "endpoint": state.endpoint_identity(),
        "names": connection_test.fields,
        "filled": connection_test.filled_fields,
        "text_names": endpoints.suggestions.text_fields(documents) if documents else None,
        "text": str(state.entered("endpoint").get("text", "")),
    }
    state.complete("endpoint")


def rebuild_endpoint(request: HtmxRequest, state: WizardState) -> Endpoint | None:
    """Returns the endpoint of the step before, validated again: it may have been archived meanwhile. None if it is invalid now."""
    form = endpoint_form(request, state, state.entered("endpoint"))
    try:
        if form.is_valid():
            return _endpoint(form, state, request.user)
    except ValidationError:
        pass
    messages.warning(request, "The endpoint can no longer be used as you entered it. Check this step again.")
    return None


def fields_step(request: HtmxRequest, state: WizardState) -> HttpResponse:
    """Choose the displayed fields and write the query template, which are checked and can be tested."""
    endpoint = rebuild_endpoint(request, state)
    if endpoint is None:
        return redirect("new_case_step", "endpoint")
    form = fields_form(state, endpoint, request.POST or None)
    if request.method == "GET" or not form.is_valid():
        return _render_fields(request, state, form, endpoint)
    action = submitted(request, StepAction, default=StepAction.NEXT)
    if action == StepAction.SUGGEST:
        template = _suggest_template(endpoint, form.chosen, state.tested.get("text_names"))
        state.enter("fields", {**state.entered("fields"), "template": template})
        return _render_fields(request, state, fields_form(state, endpoint), endpoint)
    if not check_fields(form, endpoint):
        return _render_fields(request, state, form, endpoint)
    if action == StepAction.TRY:
        return _render_fields(request, state, form, endpoint, _test_template(form, endpoint))
    state.complete("fields")
    return redirect("new_case_step", "queries")


def _render_fields(
    request: HtmxRequest,
    state: WizardState,
    form: FieldsForm,
    endpoint: Endpoint,
    tested: endpoints.ConnectionTest | None = None,
) -> HttpResponse:
    context = {
        "connection_test": tested,
        "names": state.tested.get("names", []),
        "engine": endpoints.get_engine(endpoint.engine),
        "endpoint": endpoint,
    }
    return render_step(request, state, "fields", form, context, is_invalid=bool(tested and tested.error))


def fields_form(state: WizardState, endpoint: Endpoint, data: FormData | None = None) -> FieldsForm:
    """Returns the form of the step with suggestions for the endpoint, bound to `data` if given."""
    tested = state.tested
    suggested = endpoints.suggestions.suggest_fields(
        engine=endpoint.engine, names=tested.get("filled", tested.get("names", [])), text_names=tested.get("text_names")
    )
    initial = {
        "id": suggested.id,
        "title": suggested.title,
        "thumb": suggested.thumb,
        "more": " ".join(suggested.more),
        "template": _suggest_template(endpoint, suggested, tested.get("text_names")),
        "text": tested.get("text", ""),
    }
    form = FieldsForm(data, initial={**initial, **state.entered("fields")})
    editor = {"data-editor": runs.attempts.syntax(endpoint), "data-names": "field-names"}
    form.fields["template"].widget.attrs |= editor
    if not endpoints.get_engine(endpoint.engine).uses_template:
        form.fields["template"].widget = forms.HiddenInput()
    return form


def _suggest_template(endpoint: Endpoint, fields: endpoints.suggestions.Fields, text_names: list[str] | None) -> str:
    return endpoints.suggestions.suggest_template(
        engine=endpoint.engine, fields=fields, text_names=text_names, options=endpoint.options
    )


def check_fields(form: FieldsForm, endpoint: Endpoint) -> bool:
    """Returns whether template and fields are valid; adds errors to the form, with the location in the editor."""
    template = form.cleaned_data["template"]
    try:
        runs.attempts.check(endpoint=endpoint, template=template, fields=form.chosen.spec, knobs={}, depth=10)
    except ValidationError as error:
        form.add_error("template" if "template" in error_fields(error) else "more", error_text(error))
        mark_location(form.fields["template"], error)
        return False
    return True


def _test_template(form: FieldsForm, endpoint: Endpoint) -> endpoints.ConnectionTest | None:
    """Searches with the template. None, with an error in the form, if there is no query to search for."""
    text, template = form.cleaned_data["text"] or endpoints.sample_query(endpoint), form.cleaned_data["template"]
    if text:
        return endpoints.test_connection(endpoint=endpoint, text=text, template=template, fields=form.chosen.spec)
    form.add_error("text", "Enter a query to test the template with.")
    return None
