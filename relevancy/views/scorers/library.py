"""The scorers a user can see, and the side list of them on every scorer page."""

from dataclasses import dataclass, field

from django.db.models import QuerySet

from relevancy import scorers
from relevancy.models import Case, Role, Scorer, ScorerVersion
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest


def get_scorer(request: HtmxRequest, scorer_id: int, needs: Role = Role.VIEWER) -> Scorer:
    """Returns a scorer on which the user has a role; see `get_or_403`."""
    hint = "To change it, duplicate it and edit the copy." if needs == Role.EDITOR else ""
    scorer: Scorer = get_or_403(Scorer.objects.select_related("owner"), request.user, scorer_id, needs=needs, hint=hint)
    return scorer


def editable_cases(request: HtmxRequest) -> QuerySet[Case]:
    """Returns the cases whose scorers the user can change, without archived ones."""
    cases: QuerySet[Case] = Case.objects.editable_by(request.user).filter(archived_at=None)
    return cases


@dataclass
class MenuEntry:
    """A scorer in a list. current: whether the page shows this scorer."""

    scorer: Scorer
    version: ScorerVersion
    current: bool = False

    @property
    def note(self) -> str:
        """The small text next to its name."""
        used = self.scorer.cases_using  # type: ignore[attr-defined]
        if self.scorer.is_default:
            return "default"
        if self.scorer.only_for_id:
            return "one case only"
        return f"{used:,} case{'s' * (used != 1)}" if used else ""


@dataclass
class Menu:
    """The side list: groups in the order of the page; `retired` is collapsed."""

    groups: list[tuple[str, list[MenuEntry]]]
    retired: list[MenuEntry] = field(default_factory=list)

    @property
    def entries(self) -> list[MenuEntry]:
        return [entry for _, entries in self.groups for entry in entries]


def menu(request: HtmxRequest, current: Scorer | None = None) -> Menu:
    """Returns the scorers the user can see, each in one group; the user's own are all under “Mine”."""
    groups: dict[str, list[MenuEntry]] = {"Mine": [], "Scripts": [], "Measures": []}
    retired: list[MenuEntry] = []
    for scorer in scorers.overview(request.user):
        entry = MenuEntry(scorer, scorers.newest_version(scorer), current is not None and scorer.pk == current.pk)
        if scorer.retired_at:
            retired.append(entry)
        elif scorer.owner_id == request.user.pk:
            groups["Mine"].append(entry)
        else:
            groups["Scripts" if entry.version.script else "Measures"].append(entry)
    return Menu([(title, entries) for title, entries in groups.items() if entries], retired)
