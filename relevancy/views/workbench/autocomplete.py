"""Words that complete what the user types in the tune pane, as JSON for the editor."""

from django.http import JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET

from relevancy import endpoints, runs
from relevancy.models import Endpoint, Role
from relevancy.views.requests import HtmxRequest, parse_number

from .access import get_case


@require_GET
def autocomplete(request: HtmxRequest, case_id: int) -> JsonResponse:
    """Returns the field names of an endpoint that the user may use, and what a template of the case can contain on it."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    visible = Endpoint.objects.visible_to(request.user).defer("credentials", "headers")
    endpoint = get_object_or_404(visible, pk=parse_number(request.GET.get("endpoint", "")))
    refusal = runs.why_not_usable(case=case, endpoint=endpoint, by=request.user)
    fields = endpoints.autocomplete.FieldNames(reason=refusal) if refusal else endpoints.autocomplete.fields(endpoint)
    vocabulary = endpoints.autocomplete.template_vocabulary(case, endpoint)
    return JsonResponse(
        {
            "reason": fields.reason,
            "fields": endpoints.autocomplete.typed_fields(fields),
            "names": fields.names,
            "slots": [*vocabulary.placeholders, *vocabulary.knobs],
            "words": vocabulary.words,
        }
    )
