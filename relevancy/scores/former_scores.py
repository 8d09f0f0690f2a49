"""What the score of a run was before it was computed from other ratings, and what has changed since."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Max, Q, QuerySet, Subquery

from relevancy.models import Activity, Case, CaseQuery, CaseScore, RatingChange, Run, ScorerVersion, Verdict
from relevancy.statistics import TIE

MAX_SEARCHED = 200_000  # changes of ratings of the whole site, the newest
_OTHER_CHANGES = (  # of what scores depend on, besides ratings
    Q(verb__in=[Activity.Verb.QUERIES_ADDED, Activity.Verb.QUERY_REMOVED, Activity.Verb.QUERY_RESTORED])
    | Q(verb=Activity.Verb.QUERY_CHANGED, details__changed__icontains="weight")
    | Q(verb=Activity.Verb.BOOK_CHANGED, details__changed__iregex="^(rule|scale|relevant from|grades of the ratings)")
)


@dataclass(frozen=True, slots=True)
class FormerScore:
    """The first known score of the results of a run under a version, and when it was computed."""

    score: float
    at: datetime


@dataclass(frozen=True, slots=True)
class ChangesSince:
    """What has changed in a case since a moment, of what its scores depend on.

    given, removed: numbers of changes of ratings that gave a grade, or took one away; not those that were taken back.
    others: whether queries of the case, their weights or the settings of the book were changed.
    is_partial: whether there may be more of them, because only the newest changes of the site are looked through.
    """

    given: int = 0
    removed: int = 0
    others: bool = False
    is_partial: bool = False


def former_score(present: float | None, score: float | None, at: datetime | None) -> FormerScore | None:
    """Returns the former score of `CaseScoreQuerySet.with_former`; None if it differs by less than 0.05 points from the present one."""
    if score is None or at is None or (present is not None and abs(present - score) < TIE):
        return None
    return FormerScore(score, at)


def known_scores(run: Run, version: ScorerVersion) -> list[FormerScore]:
    """Returns the scores of the present results of a run that are known, oldest first: the first and the last one of each day on which
    it was computed. Equal ones that follow each other are listed once. One SQL statement."""
    known: list[FormerScore] = []
    for row in CaseScore.objects.filter(run=run, version=version).order_by("day"):
        last = row.score if row.revision is not None else None
        for score, at in ((row.first_score, row.created_at), (last, row.updated_at)):
            if score is not None and not (known and abs(known[-1].score - score) < TIE):
                known.append(FormerScore(score, at))
    return known


def rating_changes_since(case: Case, since: datetime) -> QuerySet[Any]:
    """Returns the changes of grades for the present queries of a case since a moment that were not taken back, newest first; only those
    among the `MAX_SEARCHED` newest changes of the site."""
    return _changes_of_grades(case, since).filter(_takes_back_no_later_one(since)).order_by("-pk")


def _changes_of_grades(case: Case, since: datetime) -> QuerySet[Any]:
    present = CaseQuery.objects.present().filter(case=case).values("query")
    # By id, which has an index: the log may have millions of rows.
    changes = RatingChange.objects.filter(
        Q(old_verdict=Verdict.RATED) | Q(new_verdict=Verdict.RATED),
        pk__gt=Subquery(_last_unsearched()),
        query__in=present,
        at__gt=since,
        undone_by=None,
    )
    return changes.exclude(old_value=F("new_value"), old_is_adjudication=F("new_is_adjudication"))


def _last_unsearched() -> QuerySet[Any]:
    """The id of the newest change that is not looked through, as a subquery. It may be below 1, and need not exist."""
    return RatingChange.objects.order_by("-pk").values(last=F("pk") - MAX_SEARCHED)[:1]


def _takes_back_no_later_one(since: datetime) -> Q:
    return Q(undoes=None) | Q(undoes__at__lte=since)


def count_changes_since(case: Case, moments: Collection[datetime]) -> dict[datetime, ChangesSince]:
    """Returns what has changed since each moment. Three SQL statements; none without moments."""
    if not moments:
        return {}
    listed = sorted(set(moments))
    counts: dict[str, Any] = {}
    for number, moment in enumerate(listed):
        since = Q(at__gt=moment) & _takes_back_no_later_one(moment)
        counts[f"given_{number}"] = Count("pk", filter=since & Q(new_verdict=Verdict.RATED))
        counts[f"removed_{number}"] = Count("pk", filter=since & ~Q(new_verdict=Verdict.RATED))
    counted = _changes_of_grades(case, listed[0]).order_by().aggregate(**counts)
    unsearched = RatingChange.objects.filter(pk__lte=Subquery(_last_unsearched())).order_by("-pk")
    last_unsearched = unsearched.values_list("at", flat=True).first()
    others = Activity.objects.filter(_OTHER_CHANGES, case=case, at__gt=listed[0]).aggregate(last=Max("at"))["last"]
    return {
        moment: ChangesSince(
            counted[f"given_{number}"],
            counted[f"removed_{number}"],
            others=others is not None and others > moment,
            is_partial=last_unsearched is not None and last_unsearched > moment,
        )
        for number, moment in enumerate(listed)
    }
