"""What other users change in a case while its page is open: ratings and runs."""

from django.db.models import Max
from django.http import HttpResponse, JsonResponse
from django.views.decorators.http import require_GET

from relevancy.models import RatingChange
from relevancy.views.requests import HtmxRequest, parse_number

from .access import get_case

MAX_QUERIES = 200


@require_GET
def changes(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Returns `{"since", "queries", "run"}` as JSON, for the page to update itself.

    queries: ids of the case queries whose ratings another user has changed after the change with the id `since` of the address;
        empty without it. since: what to send next time. run: the number of the newest run, 0 without one.
    """
    case = get_case(request, case_id)
    logged = RatingChange.objects.filter(query__case_queries__case=case, query__case_queries__removed_at=None)
    since = request.GET.get("since", "")
    changed: set[int] = set()
    if since:
        newest = parse_number(since)
        newer = logged.filter(pk__gt=newest).order_by("pk")
        for pk, by_id, case_query_id in newer.values_list("pk", "by", "query__case_queries__pk")[:MAX_QUERIES]:
            newest = pk
            if by_id != request.user.pk:
                changed.add(case_query_id)
    else:
        newest = RatingChange.objects.aggregate(newest=Max("pk"))["newest"] or 0
    run = case.runs.aggregate(number=Max("number"))["number"] or 0
    return JsonResponse({"since": newest, "queries": sorted(changed), "run": run})
