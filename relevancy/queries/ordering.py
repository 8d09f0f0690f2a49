"""The manual order of a case's queries.

Positions are numbers with gaps: a move writes one row, half-way between its new neighbours. Only where the gap is used up are all
rows renumbered. Removed queries keep their position and count as neighbours.
"""

from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.db.models import Q, QuerySet

from relevancy import activity
from relevancy.models import Activity, Case, CaseQuery, User

STEP = 1.0
MIN_GAP = 1e-6  # between neighbours; about twenty moves to one position use up a step


def move(
    *,
    case: Case,
    case_query: CaseQuery,
    by: User | None,
    before: CaseQuery | None = None,
    after: CaseQuery | None = None,
) -> None:
    """Moves a query right before, or right after, another query of the case. Few statements, whatever the size of the case.

    Raises `ValidationError` if neither or both neighbours are given, or if one is not in the case.
    """
    neighbour = after if before is None else before
    if neighbour is None or (before is not None and after is not None):
        raise ValidationError({"position": "Specify exactly one of `before` and `after`."})
    if {case_query.case_id, neighbour.case_id} != {case.pk}:
        raise _no_longer_in_case()
    if neighbour.pk == case_query.pk:
        return
    with transaction.atomic():
        _lock(case)
        position = _find_gap(case_query, neighbour, is_before=before is not None)
        if position is None:
            _renumber(case)
            position = _find_gap(case_query, neighbour, is_before=before is not None)
            assert position is not None
        case_query.position = position
        case_query.save(update_fields=["position"])
        activity.record_once(Activity.Verb.QUERIES_MOVED, by=by, case=case)


def _no_longer_in_case() -> ValidationError:
    return ValidationError({"position": "This query is no longer in the case. Reload the page."})


def move_by(*, case_query: CaseQuery, steps: int, by: User | None) -> bool:
    """Moves a query down by a number of positions, up if `steps` is negative, at most to the end of the list.

    Returns False if it was already there.
    """
    if not steps:
        return False
    with transaction.atomic():
        _lock(case_query.case)
        case_query.refresh_from_db(fields=["position"])
        others = case_query.case.case_queries.present()
        passed = _listed_from(case_query, others, is_before=steps < 0)[: abs(steps)]
        if not passed:
            return False
        neighbour = {"before" if steps < 0 else "after": list(passed)[-1]}
        move(case=case_query.case, case_query=case_query, by=by, **neighbour)
    return True


def _lock(case: Case) -> None:
    """Without the lock, two moves at the same time could take the same position."""
    list(Case.objects.filter(pk=case.pk).select_for_update(no_key=True).values_list("pk"))


def _find_gap(case_query: CaseQuery, anchor: CaseQuery, *, is_before: bool) -> float | None:
    """Returns the position half-way between the anchor and its neighbour; None if the gap between them is used up."""
    try:
        anchor.refresh_from_db(fields=["position"])  # it may have changed since the page was drawn
    except CaseQuery.DoesNotExist:
        raise _no_longer_in_case() from None
    others = CaseQuery.objects.filter(case=case_query.case_id).exclude(pk=case_query.pk)
    beyond = _listed_from(anchor, others, is_before=is_before).values_list("position", flat=True).first()
    end = anchor.position + (-2 if is_before else 2) * STEP
    middle = (anchor.position + (end if beyond is None else beyond)) / 2
    return middle if abs(middle - anchor.position) > MIN_GAP else None


def _listed_from(case_query: CaseQuery, others: QuerySet[CaseQuery], *, is_before: bool) -> QuerySet[CaseQuery]:
    """Returns those that stand before a query, or after it, the nearest first."""
    side, sign = ("lt", "-") if is_before else ("gt", "")
    same = Q(position=case_query.position, **{f"pk__{side}": case_query.pk})
    return others.filter(Q(**{f"position__{side}": case_query.position}) | same).order_by(
        f"{sign}position", f"{sign}pk"
    )


def _renumber(case: Case) -> None:
    """Numbers the queries 1, 2, 3 … in their present order. One statement: in batches a rating would have to wait for it."""
    table = connection.ops.quote_name(CaseQuery._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET position = numbered.number FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY position, id) "
            f"AS number FROM {table} WHERE case_id = %s) AS numbered WHERE numbered.id = {table}.id",
            [case.pk],
        )
