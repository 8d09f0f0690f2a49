"""The page that tries the mapping of an HTTP API on a response, without saving anything."""

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from relevancy import endpoints
from relevancy.engines.errors import EngineError
from relevancy.models import Endpoint, UnreadableSecret
from relevancy.views.endpoints.forms import EndpointForm
from relevancy.views.endpoints.pages import get_endpoint
from relevancy.views.forms import FormData
from relevancy.views.requests import HtmxRequest

from .engine import HttpApiEngine
from .forms import MappingForm
from .mappings import MAPPING_OPTIONS, apply_mapping, fetch_response

SEND = "send"  # the button that sends a query to the endpoint


@require_http_methods(["GET", "POST"])
def endpoint_new_mapping(request: HtmxRequest) -> HttpResponse:
    """Tries a mapping before its endpoint exists, on a response that was pasted. For users who may create endpoints."""
    if not endpoints.may_create(request.user):
        raise PermissionDenied(endpoints.CREATE_DENIED)
    return _render(request, None, request.POST)


@require_http_methods(["GET", "POST"])
def endpoint_mapping(request: HtmxRequest, endpoint_id: int) -> HttpResponse:
    """Tries a mapping on a response that was pasted, or to a query that is sent to the endpoint. For editors of the endpoint."""
    endpoint = get_endpoint(request, endpoint_id)
    values: FormData = request.POST if request.method == "POST" else EndpointForm(endpoint=endpoint).initial
    return _render(request, endpoint, values)


def _render(request: HtmxRequest, endpoint: Endpoint | None, values: FormData) -> HttpResponse:
    """Renders the page, or for htmx what the mapping finds."""
    sent = {str(name): value for name, value in values.items()}
    failure = ""
    is_searched = endpoint is not None and endpoint.engine == HttpApiEngine.key
    if endpoint is not None and is_searched and SEND in request.POST:
        try:
            sent["response"] = fetch_response(endpoint=endpoint, text=request.POST.get("text", ""))
        except (EngineError, UnreadableSecret) as error:
            failure = str(error)
    form = MappingForm({name: value for name, value in sent.items() if name != SEND})
    response = str(form["response"].value() or "")
    mapped = apply_mapping(response=response, options=form.options) if response.strip() else None
    labels = {option.name: option.label for option in MAPPING_OPTIONS}
    context = {
        "form": form,
        "endpoint": endpoint,
        "is_searched": is_searched,
        "failure": failure,
        "mapped": mapped,
        "problems": [(labels.get(problem.option, ""), problem) for problem in mapped.problems] if mapped else [],
        "form_url": reverse("endpoint_edit", args=[endpoint.pk]) if endpoint else reverse("endpoint_new"),
    }
    return render(request, "http_api/_mapped.html" if request.htmx else "http_api/mapping.html", context)
