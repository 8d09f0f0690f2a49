"""What is offered while an attempt is edited, as JSON for js/completing.js."""

from django.http import HttpRequest, JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET

from relevancy import cases
from relevancy.models import Endpoint

from .bench import editable
from .listing import number


@require_GET
def offered(request: HttpRequest, case_id: int) -> JsonResponse:
    """Field names of an endpoint the user sees, and what a template of the case may contain on it."""
    bench = editable(request, case_id)
    endpoints = Endpoint.objects.visible_to(request.user).defer("credentials", "headers")
    endpoint = get_object_or_404(endpoints, pk=number(request.GET.get("endpoint", "")))
    fields = cases.completions.fields(endpoint)
    words = cases.completions.words(bench.case, endpoint)
    return JsonResponse(
        {
            "reason": fields.reason,
            "fields": cases.completions.typed_fields(fields),
            "names": fields.names,
            "slots": [*words.placeholders, *words.knobs],
            "words": words.words,
        }
    )
