"""The page that takes an attempt to production, and its files."""

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from relevancy import tasks
from relevancy.models import Attempt, Case, ScorerVersion
from relevancy.views.requests import HtmxRequest, parse_number
from relevancy.views.responses import as_file, conflict
from relevancy.views.workbench.access import get_case

from .proposal import Proposal

EVIDENCE_COMING = "The figures of the comparison are being computed. Ask again in a moment."


@require_GET
def show(request: HtmxRequest, case_id: int, number: int) -> HttpResponse:
    """Shows the deployable text, the difference and the evidence; if htmx asks for the evidence, only that."""
    proposal = _open(request, case_id, number)
    _request_figures(proposal)
    case = proposal.attempt.case
    context = {
        "case": case,
        "page": proposal,
        "versions": ScorerVersion.objects.used_by(case),
        "others": case.attempts.exclude(pk=proposal.attempt.pk).order_by("-number").only("number", "name"),
    }
    part = "production/_evidence.html" if request.htmx.target == "evidence" else "production/production.html"
    return render(request, part, context)


@require_GET
def deployment_file(request: HtmxRequest, case_id: int, number: int) -> HttpResponse:
    """What the API of the engine takes."""
    proposal = _open(request, case_id, number)
    text = f"{proposal.deployment.file}\n" if proposal.deployment else ""
    return _file(request, proposal, text, "application/json", ".json", proposal.problem)


@require_GET
def difference_file(request: HtmxRequest, case_id: int, number: int) -> HttpResponse:
    """The unified diff from the other attempt."""
    proposal = _open(request, case_id, number)
    return _file(request, proposal, proposal.difference, "text/plain; charset=utf-8", ".diff", proposal.no_difference)


@require_GET
def evidence_file(request: HtmxRequest, case_id: int, number: int) -> HttpResponse:
    """The evidence as Markdown."""
    proposal = _open(request, case_id, number)
    _request_figures(proposal)
    reason = proposal.no_evidence or EVIDENCE_COMING
    return _file(request, proposal, proposal.evidence, "text/markdown; charset=utf-8", ".md", reason)


def _file(
    request: HtmxRequest, proposal: Proposal, text: str, content_type: str, ending: str, reason: str
) -> HttpResponse:
    """Returns a file; without a text, leads back to the page with the reason."""
    attempt = proposal.attempt
    if not text:
        return conflict(request, reverse("production", args=[attempt.case_id, attempt.number]), reason)
    name = f"{attempt.case.name} attempt {attempt.number}"
    return as_file(HttpResponse(text, content_type=content_type), name, ending)


def _open(request: HtmxRequest, case_id: int, number: int) -> Proposal:
    case = get_case(request, case_id)
    attempt, against = _find(case, number), parse_number(request.GET.get("against", ""))
    scorer = parse_number(request.GET.get("scorer", ""))
    return Proposal(
        attempt,
        _find(case, against) if against and against != number else None,
        version=ScorerVersion.objects.used_by(case).filter(scorer=scorer).first(),
        site=settings.SITE_URL or request.build_absolute_uri("/").rstrip("/"),
    )


def _request_figures(proposal: Proposal) -> None:
    """Enqueues the computation of the comparison if it is needed."""
    if proposal.is_pending and proposal.stored is not None:
        tasks.enqueue_comparison(proposal.stored)


def _find(case: Case, number: int) -> Attempt:
    attempt: Attempt = get_object_or_404(Attempt.objects.select_related("endpoint"), case=case, number=number)
    attempt.case = case
    return attempt
