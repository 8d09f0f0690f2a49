"""The library of scorers, and the page of each: description, computation, use."""

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from relevancy import scorers
from relevancy.models import Case, CaseScorer, Scorer, ScorerDefinition, Team
from relevancy.views.requests import HtmxRequest

from . import descriptions
from .library import editable_cases, get_scorer, menu
from .preview_forms import PreviewForm


@require_GET
def scorer_list(request: HtmxRequest) -> HttpResponse:
    """The scorers the user can see; with `find`, those with that text in their name, measure or description."""
    side = menu(request)
    teams = set(Team.objects.visible_to(request.user).values_list("pk", flat=True))
    find = request.GET.get("find", "").strip()
    listed = [(entry["scorer"], entry["version"], entry) for entry in side["entries"]]
    rows = [
        (entry, [team for team in scorer.teams.all() if team.pk in teams])
        for scorer, version, entry in sorted(listed, key=lambda row: (not row[0].is_default, row[0].name.lower()))
        if find.lower() in f"{scorer.name}\0{version.measure}\0{scorer.description}".lower()
    ]
    context = {
        "menu": side,
        "rows": rows,
        "find": find,
        "can_write_scripts": scorers.may_write_scripts(request.user),
        "is_admin": request.user.is_superuser,
    }
    return render(request, "scorers/list.html", context)


@require_GET
def scorer(request: HtmxRequest, scorer_id: int) -> HttpResponse:
    """The page of a scorer, with its preview."""
    current = get_scorer(request, scorer_id)
    version = scorers.newest_version(current)
    definition = ScorerDefinition.of(version)
    context = {
        "menu": menu(request, current),
        "scorer": current,
        "version": version,
        "description": descriptions.describe_measure(version.measure) if version.measure else None,
        "versions": descriptions.history(list(current.versions.select_related("created_by"))),
        "teams": current.teams.filter(pk__in=Team.objects.visible_to(request.user).values("pk")),
        "preview_form": PreviewForm(
            request.user, initial={"grades": descriptions.example_grades(definition.scale)}, scorer=current
        ),
        **uses_of(request, current),
        "can_edit": Scorer.objects.editable_by(request.user).filter(pk=current.pk).exists(),
        "can_manage": Scorer.objects.owned_by(request.user).filter(pk=current.pk).exists(),
        "is_admin": request.user.is_superuser,
        "can_write_scripts": scorers.may_write_scripts(request.user),
    }
    return render(request, "scorers/scorer.html", context)


def uses_of(request: HtmxRequest, scorer: Scorer) -> dict[str, object]:
    """Returns the cases that use a scorer: visible ones by name, others as a number; `behind`: editable ones with an older version."""
    case_scorers: QuerySet[CaseScorer] = scorers.uses(scorer)
    visible = set(Case.objects.visible_to(request.user).values_list("pk", flat=True))
    editable = set(editable_cases(request).values_list("pk", flat=True))
    visible_uses = [
        (case_scorer, case_scorer.case_id in editable) for case_scorer in case_scorers if case_scorer.case_id in visible
    ]
    latest = scorers.newest_version(scorer).number
    return {
        "uses": visible_uses,
        "other_uses": sum(case_scorer.case_id not in visible for case_scorer in case_scorers),
        "behind": [
            case_scorer for case_scorer, can_edit in visible_uses if can_edit and case_scorer.version.number < latest
        ],
        "latest": latest,
    }
