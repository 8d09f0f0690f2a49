"""Pages of endpoints: list, create, edit, connection test, archive."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from relevancy import endpoints
from relevancy.models import Endpoint, Role, UnreadableSecret
from relevancy.views.forms import InitialValues, errors_to
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import redirect_with_message
from relevancy.views.teams.sharing import ShareForm

from .forms import FILL, EndpointForm, TryForm

# The secrets are loaded only where they are needed: one that cannot be decrypted must not break every page.
WITHOUT_SECRETS = Endpoint.objects.defer("credentials", "headers")


def get_endpoint(request: HtmxRequest, endpoint_id: int, needs: Role = Role.EDITOR) -> Endpoint:
    """Returns an endpoint without its secrets. Raises `Http404` or `PermissionDenied`."""
    endpoint: Endpoint = get_or_403(WITHOUT_SECRETS, request.user, endpoint_id, needs=needs)
    return endpoint


@require_GET
def endpoint_list(request: HtmxRequest) -> HttpResponse:
    """The endpoints a user can see."""
    archived = request.GET.get("archived") == "1"
    listed = (
        WITHOUT_SECRETS.visible_to(request.user)
        .filter(archived_at__isnull=not archived)
        .annotate(cases=Count("attempts__case", distinct=True))
        .order_by("name")
    )
    context = {
        "endpoints": [(endpoint, endpoints.engine_label(endpoint.engine)) for endpoint in listed],
        "archived": archived,
        "engines": endpoints.available_engines(),
        "may_create": endpoints.may_create(request.user),
        "who_may": endpoints.CREATE_DENIED,
    }
    return render(request, "endpoints/list.html", context)


@require_http_methods(["GET", "POST"])
def endpoint_new(request: HtmxRequest) -> HttpResponse:
    """Creates an endpoint."""
    if not endpoints.may_create(request.user):
        raise PermissionDenied(endpoints.CREATE_DENIED)
    return _edit(request, None, {})


@require_http_methods(["GET", "POST"])
def endpoint_edit(request: HtmxRequest, endpoint_id: int) -> HttpResponse:
    """Edits an endpoint; users who may only see it read its settings. Secrets are never shown, only whether they are set."""
    endpoint = get_endpoint(request, endpoint_id, Role.VIEWER if request.method == "GET" else Role.EDITOR)
    used = endpoint.attempts.values("case").distinct().count()
    if not endpoint.is_editable:
        label = endpoints.engine_label(endpoint.engine)
        return render(request, "endpoints/endpoint.html", {"endpoint": endpoint, "label": label, "used": used})
    _readable(request, endpoint)
    return _edit(request, endpoint, {"endpoint": endpoint, "try_form": _try_form(endpoint), "used": used})


def _edit(request: HtmxRequest, endpoint: Endpoint | None, context: dict[str, object]) -> HttpResponse:
    """Shows the form of an endpoint, None for a new one. Saves what was entered, unless a button fills in the form instead."""
    if FILL in request.POST:
        form = EndpointForm.filled_in(request.POST, endpoint=endpoint)
    else:
        initial: InitialValues = (
            {"engine": request.GET.get("engine", endpoints.default_engine())} if not endpoint else {}
        )
        form = EndpointForm(request.POST or None, request.FILES or None, endpoint=endpoint, initial=initial)
    if form.is_valid():
        with errors_to(form):
            settings = _settings(request, form)
            if endpoint is None:
                endpoint = endpoints.create(**settings, by=request.user)
                message = f"Endpoint “{endpoint.name}” created. Run a test query to check it."
            else:
                clear = form.cleaned_data.get("clear", False)
                endpoints.update(endpoint=endpoint, by=request.user, clear=clear, **settings)
                message = f"{endpoint.name} saved. Earlier runs keep the address they were made with."
            messages.success(request, message)
            return redirect("endpoint_edit", endpoint.pk)
    if endpoint and endpoint.engine not in {option.data["value"] for option in form["engine"].subwidgets}:
        problem = f"The engine {endpoint.engine} is not installed on this server, or its app is left out."
        messages.warning(request, f"{problem} Choose another engine.")
    return render(request, "endpoints/form.html", {"form": form, **context}, status=422 if form.errors else 200)


def _readable(request: HtmxRequest, endpoint: Endpoint) -> None:
    """Loads the secrets. If they cannot be decrypted, warns and clears them, so that they can be entered again."""
    try:
        endpoint.refresh_from_db(fields=["credentials", "headers"])
    except UnreadableSecret as reason:
        endpoint.credentials, endpoint.headers = {}, {}
        messages.warning(request, str(reason))


def _settings(request: HtmxRequest, form: EndpointForm) -> dict[str, Any]:
    """Returns what was entered in a valid form; stores an uploaded file. Raises `ValidationError`."""
    settings = form.settings
    if endpoints.is_file_engine(settings["engine"]):
        settings["url"] = form.stored_file
        if upload := form.cleaned_data["file"]:
            content, engine = upload.read(), settings["engine"]
            settings["url"] = endpoints.uploads.store(engine=engine, content=content, name=upload.name, by=request.user)
    return settings


def _try_form(endpoint: Endpoint) -> TryForm:
    return TryForm(initial={"text": endpoints.sample_query(endpoint)})


@require_http_methods(["GET", "POST"])
def endpoint_try(request: HtmxRequest, endpoint_id: int) -> HttpResponse:
    """Tests the connection, with a query if one is given: a fragment for htmx, otherwise a page. A failed test is shown, too.

    For editors of the endpoint.
    """
    endpoint = get_endpoint(request, endpoint_id)
    form = TryForm(request.POST or None)
    text = form.cleaned_data["text"] if form.is_valid() else ""
    context = {
        "endpoint": endpoint,
        "try_form": form if text else _try_form(endpoint),
        "connection_test": endpoints.test_connection(endpoint=endpoint, text=text)
        if request.method == "POST"
        else None,
    }
    if request.htmx and request.GET.get("of") == "list":
        return render(request, "endpoints/_version.html", context)
    return render(request, "endpoints/_connection_test.html" if request.htmx else "endpoints/try.html", context)


@require_http_methods(["GET", "POST"])
def endpoint_share(request: HtmxRequest, endpoint_id: int) -> HttpResponse:
    """The teams an endpoint is shared with and can be shared with."""
    endpoint = get_endpoint(request, endpoint_id, Role.OWNER)
    form = ShareForm(endpoint, request.user, request.POST or None)
    if form.is_valid():
        share, unshare = (partial(do, endpoint=endpoint) for do in (endpoints.share, endpoints.unshare))
        return form.save(request, request.path, share=share, unshare=unshare)
    not_shared = f"Only {endpoint.owner} can use this endpoint."
    context = {"endpoint": endpoint, "form": form, "url": request.path, "not_shared": not_shared}
    return render(request, "endpoints/share.html", context, status=422 if form.errors else 200)


@require_POST
def endpoint_archive(request: HtmxRequest, endpoint_id: int) -> HttpResponse:
    """Hides an endpoint from the list, with Undo."""
    endpoint = get_endpoint(request, endpoint_id)
    endpoints.archive(endpoint=endpoint, by=request.user)
    undo = reverse("endpoint_restore", args=[endpoint.pk])
    return redirect_with_message(
        request, reverse("endpoints"), f"{endpoint.name} archived. Its runs are kept.", undo=undo
    )


@require_POST
def endpoint_restore(request: HtmxRequest, endpoint_id: int) -> HttpResponse:
    """Shows an archived endpoint in the list again."""
    endpoint = get_endpoint(request, endpoint_id)
    endpoints.restore(endpoint=endpoint, by=request.user)
    return redirect_with_message(request, reverse("endpoints"), f"{endpoint.name} restored.")
