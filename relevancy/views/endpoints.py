"""Search engines to ask: listed, made, tried, changed, archived."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from relevancy import cases
from relevancy.models import Endpoint, UnreadableSecret

from .answers import said
from .forms import EndpointForm, TryForm, refuse

WHO_MAY = (
    "Only editors of a team name addresses that this server calls. Ask an owner of your team to make you an editor."
)


def seen(request: HttpRequest) -> QuerySet[Endpoint]:
    """What the user sees, secrets not loaded: one whose key is gone must not break a page that does not need it."""
    found: QuerySet[Endpoint] = Endpoint.objects.visible_to(request.user).defer("credentials", "headers")
    return found


def editable(request: HttpRequest, endpoint_id: int) -> Endpoint:
    """404 for one that the user does not see, 403 for one he may not change."""
    endpoint: Endpoint = get_object_or_404(seen(request), pk=endpoint_id)
    if not Endpoint.objects.editable_by(request.user).filter(pk=endpoint_id).exists():
        raise PermissionDenied(f"You may use {endpoint.name}, but not change it.")
    return endpoint


@require_GET
def endpoints(request: HttpRequest) -> HttpResponse:
    archived = request.GET.get("archived") == "1"
    found = (
        seen(request)
        .filter(archived_at__isnull=not archived)
        .annotate(cases=Count("attempts__case", distinct=True))
        .order_by("name")
    )
    labels = {kind.key: kind.label for kind in cases.offers.kinds()}
    context = {
        "endpoints": [(endpoint, labels.get(endpoint.engine, endpoint.engine)) for endpoint in found],
        "archived": archived,
        "may_create": cases.endpoints.may_create(request.user),
        "who_may": WHO_MAY,
    }
    return render(request, "endpoint/list.html", context)


@require_http_methods(["GET", "POST"])
def endpoint_new(request: HttpRequest) -> HttpResponse:
    if not cases.endpoints.may_create(request.user):
        raise PermissionDenied(WHO_MAY)
    form = EndpointForm(
        request.POST or None, request.FILES or None, initial={"engine": request.GET.get("engine", "embedded")}
    )
    if form.is_valid():
        try:
            endpoint = cases.endpoints.create(**_arguments(form), by=request.user)
        except cases.Refused as reason:
            refuse(form, reason)
        else:
            messages.success(request, f"{endpoint.name} is made. Try it with a query.")
            return redirect("endpoint_edit", endpoint.pk)
    return render(request, "endpoint/form.html", {"form": form}, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
def endpoint_edit(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    """Its settings; what is secret is only said to be set or not."""
    endpoint = editable(request, endpoint_id)
    _readable(request, endpoint)
    initial = {name: getattr(endpoint, name) for name in ("name", "engine", "url", "parallel", "per_minute")}
    initial |= {f"option_{name}": value for name, value in endpoint.options.items()}
    form = EndpointForm(request.POST or None, request.FILES or None, endpoint=endpoint, initial=initial)
    if form.is_valid():
        try:
            cases.changing.change_endpoint(
                endpoint=endpoint, clear=form.cleaned_data.get("clear", False), **_arguments(form)
            )
        except cases.Refused as reason:
            refuse(form, reason)
        else:
            messages.success(request, f"{endpoint.name} is saved. Runs made before keep the address they asked.")
            return redirect("endpoint_edit", endpoint.pk)
    used = endpoint.attempts.values("case").distinct().count()
    context = {"form": form, "endpoint": endpoint, "try_form": _try_form(endpoint), "used": used}
    return render(request, "endpoint/form.html", context, status=422 if form.errors else 200)


def _readable(request: HttpRequest, endpoint: Endpoint) -> None:
    """Load the secrets; where their key is gone, say so and go on without, so that they can be entered again."""
    try:
        endpoint.refresh_from_db(fields=["credentials", "headers"])
    except UnreadableSecret as reason:
        endpoint.credentials, endpoint.headers = {}, {}
        messages.warning(request, str(reason))


def _arguments(form: EndpointForm) -> dict[str, Any]:
    """What the form says, a handed-in file stored. Raises `Refused`."""
    data = form.cleaned_data
    url = data["url"]
    if data["engine"] == "static":
        upload = data.get("file")
        url = cases.uploads.store(content=upload.read(), name=upload.name).name if upload else form.stored_file
    found = {name: data[name] for name in ("name", "engine", "headers", "parallel", "per_minute")}
    return {**found, "url": url, "credentials": form.credentials, "options": form.options}


def _try_form(endpoint: Endpoint) -> TryForm:
    return TryForm(initial={"text": cases.uploads.sample_query(endpoint)})


@require_http_methods(["GET", "POST"])
def endpoint_try(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    """Ask it who it is, and a query if one is given: a fragment, or a page of its own. Failing is an answer, too."""
    endpoint = get_object_or_404(seen(request), pk=endpoint_id)
    form = TryForm(request.POST or None)
    text = form.cleaned_data["text"] if form.is_valid() else ""
    trial = cases.offers.trial(endpoint=endpoint, text=text) if request.method == "POST" else None
    context: dict[str, Any] = {"endpoint": endpoint, "trial": trial, "text": text}
    context["try_form"] = form if text else _try_form(endpoint)
    if trial and not trial.error:
        spec = cases.offers.suggest_fields(engine=endpoint.engine, names=trial.fields).spec
        context["documents"] = cases.offers.documents(endpoint=endpoint, trial=trial, fields=spec)
    if request.htmx and request.GET.get("of") == "list":  # type: ignore[attr-defined]
        return render(request, "endpoint/_version.html", context)
    return render(request, "endpoint/_trial.html" if request.htmx else "endpoint/try.html", context)  # type: ignore[attr-defined]


@require_POST
def endpoint_archive(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    endpoint = editable(request, endpoint_id)
    cases.endpoints.archive(endpoint=endpoint)
    undo = reverse("endpoint_restore", args=[endpoint.pk])
    return said(request, reverse("endpoints"), f"{endpoint.name} is archived. Runs made with it stay.", undo=undo)


@require_POST
def endpoint_restore(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    endpoint = editable(request, endpoint_id)
    cases.endpoints.restore(endpoint=endpoint)
    return said(request, reverse("endpoints"), f"{endpoint.name} is offered again.")
