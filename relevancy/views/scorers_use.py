"""Scorers and the cases that use them: bring cases up to the newest version, or put another scorer in the place."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST

from relevancy import cases, tasks
from relevancy.models import Case, Scorer

from .answers import refused, said
from .forms import ReplaceForm, refuse
from .listing import number
from .scorers import uses_of
from .scorers_access import editable_cases, menu, seen
from .scorers_deeds import here


def _chosen(request: HttpRequest) -> list[Case]:
    """The cases named in the form that the user may change."""
    named = [pk for word in request.POST.getlist("case") if (pk := number(word))]
    found: Any = editable_cases(request).filter(pk__in=named)
    return list(found)


def _ticked(request: HttpRequest) -> list[Case]:
    """The same, at least one."""
    found = _chosen(request)
    if not found:
        raise cases.Refused("Tick at least one case in which it is to be replaced.")
    return found


def _rescore(changed: list[Case]) -> str:
    for case in changed:
        tasks.send(tasks.rescore_case, case.pk)
    return f"{len(changed):,} case{' is' if len(changed) == 1 else 's are'}"


@require_POST
def scorer_adopt(request: HttpRequest, scorer_id: int) -> HttpResponse:
    """Rescore the cases named, or all that the user may change, with the newest version, in the background."""
    scorer = seen(request, scorer_id)
    chosen = _chosen(request) if "case" in request.POST else list(editable_cases(request))
    changed = cases.scorers.adopt(scorer=scorer, cases=chosen)
    if not changed:
        return refused(request, here(scorer), "None of your cases is scored with an older version of it.")
    return said(request, here(scorer), f"{_rescore(changed)} being rescored with the newest version.")


@require_http_methods(["GET", "POST"])
def scorer_replace(request: HttpRequest, scorer_id: int) -> HttpResponse:
    """Choose another scorer for the cases that use this one; those the user may not change keep it."""
    scorer = seen(request, scorer_id)
    form = ReplaceForm(Scorer.objects.offered(request.user).exclude(pk=scorer.pk), request.POST or None)
    if form.is_valid():
        replacement = form.cleaned_data["replacement"]
        try:
            changed = cases.scorers.replace(scorer=scorer, replacement=replacement, cases=_ticked(request))
        except cases.Refused as reason:
            refuse(form, reason)
        else:
            text = f"{_rescore(changed)} scored with {replacement.name} now. Scores made with {scorer.name} stay."
            return said(request, here(scorer), text)
    context = {"menu": menu(request, scorer), "scorer": scorer, "form": form, **uses_of(request, scorer)}
    return render(request, "scorer/replace.html", context, status=422 if form.errors else 200)
