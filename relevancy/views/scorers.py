"""The library of scorers, and the page of each: what it says, how it computes, where it is used."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from relevancy import cases
from relevancy.evaluation import Draft
from relevancy.models import Case, CaseScorer, Scorer, Team

from . import scorers_show
from .forms import BenchForm
from .scorers_access import Entry, Menu, editable_cases, menu, newest, seen


@require_GET
def scorers(request: HttpRequest) -> HttpResponse:
    """Every scorer the user sees, in one table; `find`: those that say it in their name, measure or description."""
    side = menu(request)
    teams = set(Team.objects.visible_to(request.user).values_list("pk", flat=True))
    find = request.GET.get("find", "").strip()
    found = [entry for entry in _in_order(side) if _says(entry, find)]
    rows = [(entry, [team for team in entry.scorer.teams.all() if team.pk in teams]) for entry in found]
    context = {
        "menu": side,
        "rows": rows,
        "find": find,
        "may_script": cases.scorers.may_write_scripts(request.user),
        "is_admin": request.user.is_superuser,  # type: ignore[union-attr]
    }
    return render(request, "scorer/list.html", context)


def _says(entry: Entry, text: str) -> bool:
    said = (entry.scorer.name, entry.version.measure, entry.scorer.description)
    return any(text.lower() in each.lower() for each in said)


def _in_order(side: Menu) -> list[Any]:
    return sorted(side.entries, key=lambda entry: (not entry.scorer.is_default, entry.scorer.name.lower()))


@require_GET
def scorer(request: HttpRequest, scorer_id: int) -> HttpResponse:
    """All there is to know of one, and the bench to try it on."""
    found = seen(request, scorer_id)
    version = newest(found)
    draft = Draft.of(version)
    context = {
        "menu": menu(request, found),
        "scorer": found,
        "version": version,
        "about": scorers_show.about(version.measure) if version.measure else None,
        "versions": scorers_show.history(list(found.versions.select_related("created_by"))),
        "teams": found.teams.filter(pk__in=Team.objects.visible_to(request.user).values("pk")),
        "bench": BenchForm(request.user, initial={"grades": scorers_show.as_typed(draft.scale)}, scorer=found),
        **uses_of(request, found),
        **rights(request, found),
    }
    return render(request, "scorer/scorer.html", context)


def rights(request: HttpRequest, found: Scorer) -> dict[str, Any]:
    """What the user may do with it."""
    mine = Scorer.objects.filter(pk=found.pk)
    is_admin = request.user.is_superuser  # type: ignore[union-attr]
    return {
        "may_edit": Scorer.objects.editable_by(request.user).filter(pk__in=mine).exists(),
        "may_own": Scorer.objects.owned_by(request.user).filter(pk__in=mine).exists(),
        "is_admin": is_admin,
        "may_script": cases.scorers.may_write_scripts(request.user),
    }


def uses_of(request: HttpRequest, found: Scorer) -> dict[str, Any]:
    """Where it is used: cases the user sees by name, others as a number; `behind` are those he may bring up to date."""
    entries: QuerySet[CaseScorer] = cases.scorers.uses(found)
    visible = set(Case.objects.visible_to(request.user).values_list("pk", flat=True))
    mine = set(editable_cases(request).values_list("pk", flat=True))
    shown = [(entry, entry.case_id in mine) for entry in entries if entry.case_id in visible]
    latest = newest(found).number
    return {
        "uses": shown,
        "other_uses": sum(entry.case_id not in visible for entry in entries),
        "behind": [entry for entry, may in shown if may and entry.version.number < latest],
        "latest": latest,
    }
