"""Why the score of a run is not what it was: the scores that are known, and the ratings that were changed since the first of them."""

from django.core.paginator import Paginator
from django.db.models import OuterRef, Subquery
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from relevancy import scores
from relevancy.models import CaseQuery, Role, ScorerVersion
from relevancy.views.former_scores import describe_changes, describe_day
from relevancy.views.requests import HtmxRequest, parse_number
from relevancy.views.workbench.access import CaseAccess, get_case

PAGE_SIZE = 50


@require_GET
def changed_score(request: HtmxRequest, case_id: int, number: int) -> HttpResponse:
    """Lists the ratings. For editors: raters judge without those of others."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    run = get_object_or_404(case.runs, number=number)
    versions = list(ScorerVersion.objects.used_by(case))
    scorer = parse_number(request.GET.get("scorer", ""))
    version = next((version for version in versions if version.scorer_id == scorer), versions[0])
    known = scores.known_scores(run, version)
    context = {"case": case, "access": CaseAccess(case, request.user), "run": run, "version": version, "known": known}
    if known:
        since = known[0].at
        case_query = CaseQuery.objects.filter(case=case, query=OuterRef("query"))
        changes = scores.rating_changes_since(case, since).select_related("query", "rater", "by")
        changes = changes.annotate(case_query=Subquery(case_query.values("pk")[:1]))
        context["page"] = Paginator(changes, PAGE_SIZE).get_page(request.GET.get("page", ""))
        context["since"] = describe_day(since)
        context["reason"] = describe_changes(scores.count_changes_since(case, [since])[since])
    return render(request, "history/changed_score.html", context)
