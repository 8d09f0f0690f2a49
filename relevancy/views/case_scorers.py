"""The scorers of a case: which is primary, which stand beside it, in which version. Nothing is ever searched again for them."""

from typing import Any

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_POST

from relevancy import cases, evaluation, tasks
from relevancy.models import Scorer

from .answers import go, refused, said
from .bench import Bench, editable
from .freshness import INLINE_SCRIPTS, scorers_changed
from .listing import number

GONE = "This scorer is not on offer any more. Reload the page and choose another."


@require_POST
def choose(request: HttpRequest, case_id: int) -> HttpResponse:
    """Another primary scorer: one of the case's, or one on offer, which the case then has too."""
    bench = editable(request, case_id)
    scorer = _chosen(bench, request.POST.get("scorer", ""), [*bench.own_scorers, *bench.other_scorers])
    if scorer is None:
        return refused(request, bench.url(), GONE)
    new = scorer not in bench.own_scorers
    try:
        if new:
            cases.add_scorer(case=bench.case, scorer=scorer)
        cases.make_primary(case=bench.case, scorer=scorer)
    except cases.Refused as reason:
        return refused(request, bench.url(), f"{reason} Remove one of them first.")
    if new:
        scorers_changed(bench)
    return go(request, bench.url())


@require_POST
def add(request: HttpRequest, case_id: int) -> HttpResponse:
    """One more scorer beside those the case has."""
    bench = editable(request, case_id)
    scorer = _chosen(bench, request.POST.get("scorer", ""), bench.other_scorers)
    if scorer is None:
        return refused(request, bench.url(), GONE)
    try:
        cases.add_scorer(case=bench.case, scorer=scorer)
    except cases.Refused as reason:
        return refused(request, bench.url(), f"{reason} Remove one of them first.")
    scorers_changed(bench)
    return go(request, bench.url())


def _chosen(bench: Bench, sent: str, among: list[Scorer]) -> Scorer | None:
    wanted = number(sent)
    return next((scorer for scorer in among if scorer.pk == wanted), None)


@require_POST
def remove(request: HttpRequest, case_id: int, scorer_id: int) -> HttpResponse:
    """One scorer less, with Undo; what it scored stays."""
    bench = editable(request, case_id)
    place = next((place for place, scorer in enumerate(bench.own_scorers) if scorer.pk == scorer_id), None)
    if place is None:
        return refused(request, bench.url(), "The case has not got this scorer any more.")
    scorer, version = bench.own_scorers[place], bench.versions[place]
    try:
        cases.drop_scorer(case=bench.case, scorer=scorer)
    except cases.Refused as reason:
        return refused(request, bench.url(), reason)
    undo = reverse("case_scorer_restore", args=[case_id, scorer_id], query={"place": place, "version": version.number})
    return said(request, bench.url(), f"{scorer.name} removed from this case; what it scored is kept", undo=undo)


@require_POST
def restore(request: HttpRequest, case_id: int, scorer_id: int) -> HttpResponse:
    """Undo of `remove`: back to the place it had, in the version it had."""
    bench = editable(request, case_id)
    scorer = get_object_or_404(_may_come_back(bench), pk=scorer_id)
    version = scorer.versions.filter(number=number(request.GET.get("version", "")))
    scorers = [other for other in bench.own_scorers if other.pk != scorer_id]
    scorers.insert(number(request.GET.get("place", "")), scorer)
    try:
        cases.choose_scorers(case=bench.case, scorers=scorers, versions=version)
    except cases.Refused as reason:
        return refused(request, bench.url(), reason)
    scorers_changed(bench)
    return go(request, bench.url())


def _may_come_back(bench: Bench) -> Any:
    """What one may choose here, retired or not, and what has scored this case even if it is somebody else's."""
    here = Q(only_for=None) | Q(only_for=bench.case)
    known = Scorer.objects.filter(versions__case_scores__run__case=bench.case)
    return (Scorer.objects.visible_to(bench.user).filter(here) | known).distinct()


@require_POST
def adopt(request: HttpRequest, case_id: int, scorer_id: int) -> HttpResponse:
    """Score the case with the newest version of one of its scorers from now on."""
    bench = editable(request, case_id)
    scorer = get_object_or_404(Scorer.objects.filter(case_scorers__case=bench.case), pk=scorer_id)
    if cases.scorers.adopt(scorer=scorer, cases=[bench.case]):
        scorers_changed(bench)
    return go(request, bench.url())


@require_POST
def score_again(request: HttpRequest, case_id: int) -> HttpResponse:
    """Another try for the queries of the run shown where a script failed: it may have been for want of time."""
    bench = editable(request, case_id)
    if bench.run is None or bench.run.under_way:
        return refused(request, bench.url(), "Nothing can be scored again while no run is complete.")
    if bench.run.done <= INLINE_SCRIPTS:
        evaluation.rescore_run(bench.run, failed_too=True)
        return go(request, bench.url(run=bench.run.number if bench.older else ""))
    tasks.send(tasks.rescore_failed, bench.run.pk)
    return said(request, bench.url(), "The queries whose script failed are being scored again.")
