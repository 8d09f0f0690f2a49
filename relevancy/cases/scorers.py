"""Scorers: made, changed by a new version, copied, shared, retired, replaced; and which of them a case uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Max, QuerySet
from django.utils import timezone

from relevancy.evaluation import Draft
from relevancy.models import Case, CaseScorer, Policy, Scorer, ScorerVersion, Team

from .creating import add_scorer, make_primary
from .errors import Refused
from .scales import newest_version
from .scorer_checks import DEEPEST as DEEPEST
from .scorer_checks import MAX_DESCRIPTION as MAX_DESCRIPTION
from .scorer_checks import MAX_NAME as MAX_NAME
from .scorer_checks import check as check
from .scorer_checks import check_free, checked_description, checked_name


def create(
    *, name: str, draft: Draft, by: Any, description: str = "", communal: bool = False, only_for: Case | None = None
) -> Scorer:
    """A new scorer of the user's own, offered in one case only or everywhere, or a communal one by an admin.

    Raises `Refused` naming the field.
    """
    if communal:
        _check_admin(by)
    name, description, draft = checked_name(name), checked_description(description), check(draft)
    _check_policy(draft, by)
    with transaction.atomic():
        check_free(name)
        scorer = _stored(Scorer(name=name, description=description, owner=None if communal else by, only_for=only_for))
        _add_version(scorer, 1, draft, by)
    return scorer


def create_for_case(
    *, case: Case, name: str, draft: Draft, by: Any, description: str = "", primary: bool = False
) -> Scorer:
    """A scorer of one case only, among its scorers from now on; under the next free name where this one is taken."""
    with transaction.atomic():
        made = create(name=_free_name(checked_name(name)), draft=draft, by=by, description=description, only_for=case)
        add_scorer(case=case, scorer=made)
        if primary:
            make_primary(case=case, scorer=made)
    return made


def change(*, scorer: Scorer, by: Any, draft: Draft, name: str = "", description: str | None = None) -> ScorerVersion:
    """Another name, description, or definition. A new definition is a new version: cases keep theirs until `adopt`.

    Returns the newest version, which is the old one where the definition stays the same.
    """
    draft = check(draft)
    _check_policy(draft, by)
    with transaction.atomic():
        Scorer.objects.select_for_update().get(pk=scorer.pk)
        newest = newest_version(scorer)
        if name and checked_name(name) != scorer.name:
            check_free(checked_name(name), besides=scorer)
            scorer.name = checked_name(name)
        if description is not None:
            scorer.description = checked_description(description)
        _stored(scorer)
        if Draft.of(newest) == draft:
            return newest
        return _add_version(scorer, newest.number + 1, draft, by)


def clone(*, scorer: Scorer, by: Any, name: str = "") -> Scorer:
    """A copy of the newest version as the user's own; without a name, the next free "Copy of …"."""
    return create(
        name=name or _free_name(f"Copy of {scorer.name}"),
        draft=Draft.of(newest_version(scorer)),
        description=scorer.description,
        by=by,
    )


def _free_name(wanted: str) -> str:
    wanted = wanted[: MAX_NAME - 5]
    taken = set(Scorer.objects.filter(name__istartswith=wanted).values_list("name", flat=True))
    lowered = {name.lower() for name in taken}
    names = [wanted, *(f"{wanted} {number}" for number in range(2, len(lowered) + 3))]
    return next(name for name in names if name.lower() not in lowered)


def retire(*, scorer: Scorer) -> None:
    """No longer on offer; cases that use it go on using it. `restore` brings it back."""
    if scorer.is_default:
        raise Refused(f"{scorer.name} is the site's default. Make another scorer the default first.")
    scorer.retired_at = timezone.now()
    scorer.save(update_fields=["retired_at"])


def restore(*, scorer: Scorer) -> None:
    """On offer again."""
    scorer.retired_at = None
    scorer.save(update_fields=["retired_at"])


def set_default(*, scorer: Scorer, by: Any) -> None:
    """The scorer that new cases start with; communal ones only, by an admin."""
    _check_admin(by)
    if scorer.only_for_id:
        raise Refused(f"{scorer.name} was made for one case only; the default is for all.")
    if scorer.owner_id or scorer.retired_at:
        raise Refused(
            f"{scorer.name} is {'retired' if scorer.retired_at else 'somebody’s own'}; the default is communal."
        )
    with transaction.atomic():
        Scorer.objects.filter(is_default=True).update(is_default=False)
        Scorer.objects.filter(pk=scorer.pk).update(is_default=True)
    scorer.is_default = True


def make_communal(*, scorer: Scorer, by: Any) -> None:
    """For everybody and every case, kept by the admins."""
    _check_admin(by)
    scorer.owner = scorer.only_for = None
    scorer.save(update_fields=["owner", "only_for"])


def share(*, scorer: Scorer, team: Team) -> None:
    """Everyone in the team may use it; its editors may change it. Raises `Refused` for one that was made for one case."""
    if scorer.only_for_id:
        raise Refused(
            f"{scorer.name} was made for one case only, whose members see it already. Duplicate it, and share the copy.",
            field="team",
        )
    scorer.teams.add(team)


def unshare(*, scorer: Scorer, team: Team) -> None:
    """The team does not see it any more; cases that use it keep it."""
    scorer.teams.remove(team)


def allow_own_scripts(*, allowed: bool, by: Any) -> None:
    """Whether users who are no admins may write scripts. Those there are go on scoring."""
    _check_admin(by)
    Policy.objects.update_or_create(pk=1, defaults={"own_scripts": allowed})


def may_write_scripts(user: Any) -> bool:
    """Whether the user may make or change a script."""
    return bool(user.is_superuser or Policy.objects.current().own_scripts)


# --- scorers of cases ---


def uses(scorer: Scorer) -> QuerySet[CaseScorer]:
    """Where it is used: the live cases, each with the version it is scored with."""
    entries = CaseScorer.objects.filter(scorer=scorer, case__archived_at=None)
    return entries.select_related("case", "version").order_by("case__name")


def adopt(*, scorer: Scorer, cases: Sequence[Case]) -> list[Case]:
    """Score these cases with the newest version from now on; returns those that changed, to be scored again."""
    newest = newest_version(scorer)
    behind = CaseScorer.objects.filter(scorer=scorer, case__in=[case.pk for case in cases]).exclude(version=newest)
    changed = [entry.case for entry in behind.select_related("case")]
    CaseScorer.objects.filter(scorer=scorer, case__in=[case.pk for case in changed]).update(version=newest)
    return changed


def replace(*, scorer: Scorer, replacement: Scorer, cases: Sequence[Case]) -> list[Case]:
    """Put another scorer in its place in these cases and retire nothing; returns those that changed, to be scored again.

    Scores made with the old one stay where they are, and come back with it.
    """
    if scorer.pk == replacement.pk:
        raise Refused("A scorer cannot replace itself. Choose another one.", field="replacement")
    if replacement.retired_at:
        raise Refused(f"{replacement.name} is retired. Choose another one.", field="replacement")
    newest = newest_version(replacement)
    changed = []
    with transaction.atomic():
        for case in cases:
            entry = case.case_scorers.filter(scorer=scorer).first()
            if entry is None:
                continue
            other = case.case_scorers.filter(scorer=replacement).first()
            if other is None:
                entry.scorer, entry.version = replacement, newest
                entry.save(update_fields=["scorer", "version"])
            else:
                CaseScorer.objects.filter(pk=other.pk).update(position=min(entry.position, other.position))
                entry.delete()
            changed.append(case)
    return changed


def delete(*, scorer: Scorer) -> None:
    """For ever; possible only while nothing was ever scored with it and no case uses it."""
    if scorer.is_default:
        raise Refused(f"{scorer.name} is the site's default. Make another scorer the default first.")
    used = scorer.case_scorers.count()
    if used:
        raise Refused(f"{scorer.name} is used by {used} case{'s' * (used != 1)}. Replace it there first.")
    if scorer.versions.filter(query_scores__isnull=False).exists():
        raise Refused(f"Scores were made with {scorer.name}, so it stays, retired. Nobody is offered it any more.")
    scorer.delete()


def overview(user: Any) -> list[Any]:
    """The scorers a user sees, each with `cases_using` (live cases) and `latest` (number of its newest version)."""
    scorers = Scorer.objects.visible_to(user).select_related("owner").prefetch_related("versions", "teams")
    live = CaseScorer.objects.filter(case__archived_at=None).values("scorer").annotate(n=Count("id"))
    counts = {row["scorer"]: row["n"] for row in live}
    found: list[Any] = list(scorers.annotate(latest=Max("versions__number")).order_by("-is_default", "name"))
    for scorer in found:
        scorer.cases_using = counts.get(scorer.pk, 0)
    return found


# --- what is common to them ---


def _check_policy(draft: Draft, by: Any) -> None:
    if draft.script and not may_write_scripts(by):
        raise Refused(
            "The admins of this site have switched scripts of one's own off. Choose a measure.", field="script"
        )


def _check_admin(by: Any) -> None:
    if not by.is_superuser:
        raise Refused("Only an admin may do this.")


def _stored(scorer: Scorer) -> Scorer:
    try:
        with transaction.atomic():
            scorer.save()
    except IntegrityError:
        raise Refused(f"There is a scorer called {scorer.name} already. Choose another name.", field="name") from None
    return scorer


def _add_version(scorer: Scorer, number: int, draft: Draft, by: Any) -> ScorerVersion:
    return ScorerVersion.objects.create(
        scorer=scorer,
        number=number,
        measure=draft.measure,
        script=draft.script,
        gives=draft.gives,
        depth=draft.depth,
        scale=[list(step) for step in draft.scale],
        count_unscoreable_as_zero=draft.count_unscoreable_as_zero,
        created_by=by,
    )
