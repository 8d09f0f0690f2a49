"""The scorers a user can see, and the side list of them on every scorer page."""

from typing import Any

from django.db.models import QuerySet

from relevancy import scorers
from relevancy.models import Case, Role, Scorer
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest
from relevancy.wording import counted


def get_scorer(request: HtmxRequest, scorer_id: int, needs: Role = Role.VIEWER) -> Scorer:
    """Returns a scorer on which the user has a role; see `get_or_403`."""
    hint = "To change it, duplicate it and edit the copy." if needs == Role.EDITOR else ""
    scorer: Scorer = get_or_403(Scorer.objects.select_related("owner"), request.user, scorer_id, needs=needs, hint=hint)
    return scorer


def editable_cases(request: HtmxRequest) -> QuerySet[Case]:
    """Returns the cases whose scorers the user can change, without archived ones."""
    cases: QuerySet[Case] = Case.objects.editable_by(request.user).filter(archived_at=None)
    return cases


def menu(request: HtmxRequest, current: Scorer | None = None) -> dict[str, Any]:
    """Returns the scorers the user can see: `groups` with their titles, the user's own all under “Mine”; all of them as `entries`; and
    those that are `retired`. Each has a `scorer`, its newest `version`, a `note`, and whether it is the `current` one.
    """
    groups: dict[str, list[dict[str, Any]]] = {"Mine": [], "Scripts": [], "Measures": []}
    retired = []
    for scorer in scorers.overview(request.user):
        version = scorers.newest_version(scorer)
        note = counted(scorer.cases_using, "case") if scorer.cases_using else ""
        if scorer.only_for_id:
            note = "one case only"
        if scorer.is_default:
            note = "default"
        entry = {"scorer": scorer, "version": version, "note": note, "current": scorer == current}
        if scorer.retired_at:
            retired.append(entry)
        else:
            is_own = scorer.owner_id == request.user.pk
            groups["Mine" if is_own else "Scripts" if version.script else "Measures"].append(entry)
    return {
        "groups": [(title, entries) for title, entries in groups.items() if entries],
        "entries": [entry for entries in groups.values() for entry in entries],
        "retired": retired,
    }
