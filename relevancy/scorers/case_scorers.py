"""The scorers of a case: which ones, in which order and in which version. The first one is primary.

Every change locks the case first: two editors who change its scorers at the same time must not undo each other's change.
"""

from collections.abc import Callable, Sequence

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet

from relevancy import activity
from relevancy.models import Activity, Case, CaseScorer, Scorer, ScorerDefinition, ScorerVersion, User

from .scorers import create, free_name, newest_version

MAX_SCORERS = 10


def default_scorer(user: User | None = None) -> Scorer:
    """Returns the scorer of a new case for which none is chosen: the user's default, unless it is no longer offered to the user,
    else the site's.
    """
    if user is not None and user.default_scorer_id is not None:
        own = Scorer.objects.offered(user).filter(pk=user.default_scorer_id).first()
        if own is not None:
            return own
    return Scorer.objects.live().order_by("-is_default", "id")[0]


def choose_scorers(
    *, case: Case, scorers: Sequence[Scorer], versions: Sequence[ScorerVersion] = (), by: User | None = None
) -> None:
    """Replaces the case's scorers, the primary one first.

    A scorer that the case has keeps its version; others use theirs among `versions`, or their newest.
    Raises `ValidationError` for none or more than 10.
    """
    _change(case, lambda _: scorers, versions, by=by)


def add_scorer(*, case: Case, scorer: Scorer, by: User | None = None) -> None:
    """Adds a scorer as the case's last, in its newest version. Raises `ValidationError` if the case has 10."""
    _change(case, lambda present: [*present, scorer], by=by)


def drop_scorer(*, case: Case, scorer: Scorer, by: User | None = None) -> None:
    """Removes a scorer from the case; its scores are kept. Raises `ValidationError` if it is the only one."""
    _change(case, lambda present: [other for other in present if other != scorer], by=by)


def make_primary(*, case: Case, scorer: Scorer, by: User | None = None) -> None:
    """Puts a scorer first, adding it if the case does not have it; the others keep their order.

    Raises `ValidationError` if the case would have more than 10.
    """
    _change(case, lambda present: [scorer, *present], by=by)


def _change(
    case: Case,
    choose: Callable[[list[Scorer]], Sequence[Scorer]],
    versions: Sequence[ScorerVersion] = (),
    *,
    by: User | None,
) -> bool:
    """Locks the case, and replaces its scorers by what `choose` returns for those that it has. Returns whether they are others now."""
    with transaction.atomic():
        Case.objects.select_for_update(no_key=True).get(pk=case.pk)
        present = {
            case_scorer.scorer: case_scorer
            for case_scorer in case.case_scorers.select_related("scorer").order_by("position", "id")
        }
        wanted = list(dict.fromkeys(choose(list(present))))
        if not wanted:
            raise ValidationError({"scorer": "A case needs at least one scorer."})
        if len(wanted) > MAX_SCORERS:
            raise ValidationError({"scorer": f"A case can have at most {MAX_SCORERS} scorers."})
        version_by_scorer = {version.scorer_id: version for version in versions}
        case.case_scorers.exclude(scorer__in=wanted).delete()
        for position, scorer in enumerate(wanted):
            if scorer in present:
                if present[scorer].position != position:
                    CaseScorer.objects.filter(pk=present[scorer].pk).update(position=position)
                continue
            if scorer.only_for_id not in (None, case.pk):
                message = f"{scorer.name} was made for another case only. Duplicate it, or choose another scorer."
                raise ValidationError({"scorer": message})
            version = version_by_scorer.get(scorer.pk) or newest_version(scorer)
            CaseScorer.objects.create(case=case, scorer=scorer, version=version, position=position)
        _record_changes(case, list(present), wanted, by)
    return wanted != list(present)


def _record_changes(case: Case, former: Sequence[Scorer], wanted: Sequence[Scorer], by: User | None) -> None:
    """Adds to the log which scorers were added and removed, and which one is primary now if it was not."""
    changes = [(Activity.Verb.SCORER_REMOVED, scorer) for scorer in former if scorer not in wanted]
    changes += [(Activity.Verb.SCORER_ADDED, scorer) for scorer in wanted if scorer not in former]
    if former and former[0] != wanted[0]:
        changes.append((Activity.Verb.SCORER_PRIMARY, wanted[0]))
    for verb, scorer in changes:
        activity.record(verb, case=case, by=by, subject=scorer.name, object_id=scorer.pk)


def create_for_case(
    *, case: Case, name: str, definition: ScorerDefinition, by: User, description: str = "", primary: bool = False
) -> Scorer:
    """Creates a scorer that is offered in this case only, and adds it to the case's scorers.

    If the name is taken, the scorer gets the next free one. Raises `ValidationError`.
    """
    with transaction.atomic():
        scorer = create(name=free_name(name), definition=definition, by=by, description=description, only_for=case)
        add_scorer(case=case, scorer=scorer, by=by)
        if primary:
            make_primary(case=case, scorer=scorer, by=by)
    return scorer


def uses(scorer: Scorer) -> QuerySet[CaseScorer]:
    """Returns where the scorer is used: in live cases, each with the version it is scored with."""
    case_scorers = CaseScorer.objects.filter(scorer=scorer, case__archived_at=None)
    return case_scorers.select_related("case", "version").order_by("case__name")


def adopt(*, scorer: Scorer, cases: Sequence[Case], by: User | None = None) -> list[Case]:
    """Puts the scorer's newest version in the place of older ones; returns the cases that changed, which need rescoring."""
    newest = newest_version(scorer)
    older = CaseScorer.objects.filter(scorer=scorer, case__in=[case.pk for case in cases]).exclude(version=newest)
    changed = [case_scorer.case for case_scorer in older.select_related("case")]
    with transaction.atomic():
        CaseScorer.objects.filter(scorer=scorer, case__in=[case.pk for case in changed]).update(version=newest)
        for case in changed:
            activity.record(
                Activity.Verb.SCORER_UPDATED,
                case=case,
                by=by,
                subject=scorer.name,
                object_id=scorer.pk,
                version=newest.number,
            )
    return changed


def replace(*, scorer: Scorer, replacement: Scorer, cases: Sequence[Case], by: User | None = None) -> list[Case]:
    """Puts another scorer in the place of one in these cases; returns the cases that changed, which need rescoring.

    Scores computed with the replaced scorer are kept. Raises `ValidationError` for a replacement that is retired or the same.
    """
    if scorer.pk == replacement.pk:
        raise ValidationError({"replacement": "A scorer cannot replace itself. Choose another one."})
    if replacement.retired_at:
        raise ValidationError({"replacement": f"{replacement.name} is retired. Choose another one."})
    changed = []
    with transaction.atomic():
        for case in sorted(cases, key=lambda case: case.pk):  # one order of locks for everyone
            if _change(case, lambda present: [replacement if other == scorer else other for other in present], by=by):
                changed.append(case)
    return changed
