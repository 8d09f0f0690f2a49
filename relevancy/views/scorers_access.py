"""Which scorers a user sees, changes and owns; and the list of them at the side of every page."""

from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from relevancy import cases
from relevancy.models import Case, Scorer, ScorerVersion


def seen(request: HttpRequest, scorer_id: int) -> Scorer:
    """404 for a scorer the user does not see."""
    found: Scorer = get_object_or_404(Scorer.objects.visible_to(request.user).select_related("owner"), pk=scorer_id)
    return found


def editable(request: HttpRequest, scorer_id: int) -> Scorer:
    """404 for one that the user does not see, 403 for one he may not change."""
    scorer = seen(request, scorer_id)
    if not Scorer.objects.editable_by(request.user).filter(pk=scorer.pk).exists():
        raise PermissionDenied(f"You may use {scorer.name}, but not change it. Duplicate it, and change the copy.")
    return scorer


def owned(request: HttpRequest, scorer_id: int) -> Scorer:
    """404 for one that the user does not see, 403 for one that is not his to share, retire or give away."""
    scorer = seen(request, scorer_id)
    if not Scorer.objects.owned_by(request.user).filter(pk=scorer.pk).exists():
        whose = "an admin" if scorer.owner is None else scorer.owner
        raise PermissionDenied(f"Only {whose} may do this with {scorer.name}.")
    return scorer


def admin_only(request: HttpRequest) -> None:
    """403 for everybody else."""
    if not request.user.is_superuser:  # type: ignore[union-attr]
        raise PermissionDenied("Only an admin decides this.")


def editable_cases(request: HttpRequest) -> Any:
    """The live cases whose scorers the user may change."""
    return Case.objects.editable_by(request.user).filter(archived_at=None)


def newest(scorer: Scorer) -> ScorerVersion:
    """The newest of the versions that are loaded already."""
    return max(scorer.versions.all(), key=lambda version: version.number)


@dataclass
class Entry:
    """A scorer in a list. `aside`: what stands small beside it."""

    scorer: Scorer
    version: ScorerVersion
    current: bool = False

    @property
    def aside(self) -> str:
        used = self.scorer.cases_using  # type: ignore[attr-defined]
        if self.scorer.is_default:
            return "default"
        if self.scorer.only_for_id:
            return "one case only"
        return f"{used:,} case{'s' * (used != 1)}" if used else ""


@dataclass
class Menu:
    """The side list: groups in the order of the page, `retired` folded."""

    groups: list[tuple[str, list[Entry]]]
    retired: list[Entry] = field(default_factory=list)

    @property
    def entries(self) -> list[Entry]:
        return [entry for _, entries in self.groups for entry in entries]


def menu(request: HttpRequest, current: Scorer | None = None) -> Menu:
    """What the user sees. A scorer stands in one group: the user's own in theirs, whatever they are."""
    groups: dict[str, list[Entry]] = {"Mine": [], "Scripts": [], "Measures": []}
    retired: list[Entry] = []
    for scorer in cases.scorers.overview(request.user):
        entry = Entry(scorer, newest(scorer), current is not None and scorer.pk == current.pk)
        if scorer.retired_at:
            retired.append(entry)
        elif scorer.owner_id == request.user.pk:
            groups["Mine"].append(entry)
        else:
            groups["Scripts" if entry.version.script else "Measures"].append(entry)
    return Menu([(title, entries) for title, entries in groups.items() if entries], retired)
