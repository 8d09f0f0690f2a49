"""Scorers and their versions: created, changed, copied, shared, retired and deleted."""

from collections.abc import Callable
from itertools import count
from operator import attrgetter
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from relevancy import activity
from relevancy.models import (
    Activity,
    Case,
    Policy,
    QueryScore,
    Run,
    Scorer,
    ScorerDefinition,
    ScorerVersion,
    Team,
    User,
)
from relevancy.models.saving import clean_and_save
from relevancy.models.text import normalize_line

from .validation import check

MAX_NAME = 120
MAX_DESCRIPTION = 5_000


def create(
    *,
    name: str,
    definition: ScorerDefinition,
    by: User,
    description: str = "",
    is_global: bool = False,
    only_for: Case | None = None,
) -> Scorer:
    """Creates a scorer that `by` owns, or, if `by` is an admin, a global one.

    only_for: the one case it is offered in; None for all.
    Raises `ValidationError` naming the field.
    """
    if is_global:
        _check_admin(by)
    definition = check(definition)
    _check_policy(definition, by)
    scorer = Scorer(name=name, description=description, owner=None if is_global else by, only_for=only_for)
    with transaction.atomic():
        clean_and_save(scorer)
        _add_version(scorer, 1, definition, by)
    return scorer


def change(
    *,
    scorer: Scorer,
    by: User,
    definition: ScorerDefinition | None = None,
    name: str = "",
    description: str | None = None,
    check_state: Callable[[], None] | None = None,
) -> ScorerVersion:
    """Changes what is given of a scorer. A new definition is a new version; cases keep theirs until `adopt`.

    check_state: called in the transaction before anything is written; what it raises is raised. The definition is checked outside
    of the transaction, because a script is compiled for it.

    Returns the newest version, which is the present one if the definition is the same.
    """
    if definition is not None:
        definition = check(definition)
        _check_policy(definition, by)
    with transaction.atomic():
        Scorer.objects.select_for_update().get(pk=scorer.pk)
        if check_state is not None:
            check_state()
        newest = newest_version(scorer)
        clean_and_save(
            scorer,
            name=name or scorer.name,
            description=scorer.description if description is None else description,
        )
        if definition in (None, ScorerDefinition.of(newest)):
            return newest
        return _add_version(scorer, newest.number + 1, definition, by)


def clone(*, scorer: Scorer, by: User, name: str = "") -> Scorer:
    """Creates a copy of the newest version that `by` owns; without a name it is called “Copy of …”."""
    return create(
        name=name or free_name(f"Copy of {scorer.name}"[:MAX_NAME]),
        definition=ScorerDefinition.of(newest_version(scorer)),
        description=scorer.description,
        by=by,
    )


def free_name(name: str) -> str:
    """Returns the name, with a number added if another scorer already has it."""
    name = normalize_line(name)
    stem = name[: MAX_NAME - 5]
    taken = {other.lower() for other in Scorer.objects.filter(name__istartswith=stem).values_list("name", flat=True)}
    if name.lower() not in taken:
        return name
    numbered = (f"{stem} {number}" for number in count(2))
    return next(candidate for candidate in numbered if candidate.lower() not in taken)


def newest_version(scorer: Scorer) -> ScorerVersion:
    """Returns the version that cases get when the scorer is chosen; without a query if the versions were prefetched."""
    if "versions" in getattr(scorer, "_prefetched_objects_cache", {}):
        return max(scorer.versions.all(), key=attrgetter("number"))
    version: ScorerVersion = scorer.versions.order_by("-number")[0]
    return version


def retire(*, scorer: Scorer) -> None:
    """Stops offering the scorer; cases that use it keep it. `restore` undoes it."""
    _check_not_default(scorer)
    scorer.retired_at = timezone.now()
    scorer.save(update_fields=["retired_at"])


def restore(*, scorer: Scorer) -> None:
    """Offers a retired scorer again."""
    scorer.retired_at = None
    scorer.save(update_fields=["retired_at"])


def set_default(*, scorer: Scorer, by: User) -> None:
    """Makes a global scorer the one that new cases start with; for admins."""
    _check_admin(by)
    if scorer.only_for_id:
        raise ValidationError(f"{scorer.name} is offered in one case only. The default must be a global scorer.")
    if scorer.retired_at:
        raise ValidationError(f"{scorer.name} is retired. Restore it before you make it the default.")
    if scorer.owner_id:
        raise ValidationError(f"{scorer.name} belongs to one user. The default must be a global scorer.")
    with transaction.atomic():
        Scorer.objects.filter(is_default=True).update(is_default=False)
        Scorer.objects.filter(pk=scorer.pk).update(is_default=True)
    scorer.is_default = True


def make_global(*, scorer: Scorer, by: User) -> None:
    """Offers the scorer to all users in all cases; admins maintain it from now on, and only they can do this."""
    _check_admin(by)
    scorer.owner = scorer.only_for = None
    scorer.save(update_fields=["owner", "only_for"])


def share(*, scorer: Scorer, team: Team, by: User | None = None) -> None:
    """Offers the scorer to a team, whose editors may change it. Raises `ValidationError` for a scorer of one case only."""
    if scorer.only_for_id:
        message = f"{scorer.name} is offered in one case only. Duplicate it and share the copy."
        raise ValidationError({"team": message})
    with transaction.atomic():
        scorer.teams.add(team)
        activity.record(Activity.Verb.SCORER_SHARED, team=team, by=by, subject=scorer.name, object_id=scorer.pk)


def unshare(*, scorer: Scorer, team: Team, by: User | None = None) -> None:
    """Stops offering the scorer to a team; cases that use it keep it."""
    with transaction.atomic():
        scorer.teams.remove(team)
        activity.record(Activity.Verb.SCORER_UNSHARED, team=team, by=by, subject=scorer.name, object_id=scorer.pk)


def set_user_scripts_allowed(*, allowed: bool, by: User) -> None:
    """Sets whether users who are not admins may write scripts. Existing scripts remain usable."""
    _check_admin(by)
    Policy.objects.update_or_create(pk=1, defaults={"allow_user_scripts": allowed})


def may_write_scripts(user: User) -> bool:
    """Returns whether the user may create or change a script."""
    return bool(Policy.objects.may_write_scripts(user))


def delete(*, scorer: Scorer) -> None:
    """Deletes the scorer permanently. Only possible if no case uses it and no score was computed with it."""
    _check_not_default(scorer)
    cases = scorer.case_scorers.count()
    if cases:
        plural = "" if cases == 1 else "s"
        raise ValidationError(f"{scorer.name} is used by {cases} case{plural}. Replace it there first.")
    scored = QueryScore.objects.filter(run=OuterRef("pk"), version__in=scorer.versions.all())
    if Run.objects.filter(Exists(scored)).exists():  # by run: the scores have no index by version
        raise ValidationError(f"{scorer.name} cannot be deleted: scores were computed with it. Retire it instead.")
    scorer.delete()


def overview(user: User) -> QuerySet[Any]:
    """Returns the scorers a user sees, each with `cases_using` (live cases) and `latest` (number of its newest version)."""
    live = Q(case_scorers__case__archived_at=None)
    visible: QuerySet[Any] = (
        Scorer.objects.visible_to(user).select_related("owner").prefetch_related("versions", "teams")
    )
    annotated: QuerySet[Any] = visible.annotate(
        latest=Max("versions__number"), cases_using=Count("case_scorers", filter=live, distinct=True)
    )
    return annotated.order_by("-is_default", "name")


def _check_policy(definition: ScorerDefinition, by: User) -> None:
    if definition.script and not may_write_scripts(by):
        raise ValidationError({"script": "The admins of this site have disabled user scripts. Choose a measure."})


def _check_admin(by: User) -> None:
    if not by.is_superuser:
        raise ValidationError("Only an admin can do this.")


def _check_not_default(scorer: Scorer) -> None:
    if scorer.is_default:
        raise ValidationError(f"{scorer.name} is the default of this site. Make another scorer the default first.")


def _add_version(scorer: Scorer, number: int, definition: ScorerDefinition, by: User) -> ScorerVersion:
    return ScorerVersion.objects.create(scorer=scorer, number=number, created_by=by, **vars(definition))
