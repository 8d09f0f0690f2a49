"""The manual order of a case's queries.

Positions are numbers with gaps: a move writes one row, half-way between its new neighbours. Only where the gap is used up are all
rows renumbered. Removed queries keep their position and count as neighbours.
"""

from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.db.models import FloatField, Max, Min, Q, Subquery, Value
from django.db.models.functions import Coalesce

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

    Refreshes `case_query.position`. Raises `ValidationError` if neither or both neighbours are given, or if one is not in the case.
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
        if not _insert_between(case_query, neighbour, before=before is not None):
            _renumber(case)
            if not _insert_between(case_query, neighbour, before=before is not None):
                raise _no_longer_in_case()
        activity.record_once(Activity.Verb.QUERIES_MOVED, by=by, case=case)
    case_query.refresh_from_db(fields=["position"])


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
        side, position = "lt" if steps < 0 else "gt", case_query.position
        beyond = Q(**{f"position__{side}": position}) | Q(**{"position": position, f"id__{side}": case_query.pk})
        others = case_query.case.case_queries.present().filter(beyond)
        order = ("-position", "-id") if steps < 0 else ("position", "id")
        passed = list(others.order_by(*order)[: abs(steps)])
        if not passed:
            return False
        neighbour = {"before": passed[-1]} if steps < 0 else {"after": passed[-1]}
        move(case=case_query.case, case_query=case_query, by=by, **neighbour)
    return True


def _lock(case: Case) -> None:
    """Without the lock, two moves at the same time could take the same position."""
    list(Case.objects.filter(pk=case.pk).select_for_update(no_key=True).values_list("pk"))


def _insert_between(case_query: CaseQuery, anchor: CaseQuery, *, before: bool) -> bool:
    """Moves the query half-way between the anchor and its neighbour; returns False and writes nothing if the gap is used up."""
    stored = CaseQuery.objects.filter(pk=anchor.pk, case=case_query.case_id).order_by().values("position")[:1]
    # The anchor's position is read in the statement itself: it may have changed since the page was drawn.
    anchor_position = Subquery(stored, output_field=FloatField())
    side = "lt" if before else "gt"
    beyond = Q(**{f"position__{side}": anchor_position}) | Q(**{"position": anchor_position, f"id__{side}": anchor.pk})
    nearest = Max("position") if before else Min("position")
    others = CaseQuery.objects.filter(beyond, case=case_query.case_id).exclude(pk=case_query.pk).order_by()
    neighbour = Subquery(others.values("case").annotate(nearest=nearest).values("nearest"), output_field=FloatField())
    end = anchor_position + Value(-2 * STEP if before else 2 * STEP, output_field=FloatField())
    middle = (anchor_position + Coalesce(neighbour, end, output_field=FloatField())) / Value(2.0)
    wide_enough = Q(gap__gt=MIN_GAP) | Q(gap__lt=-MIN_GAP)
    target = CaseQuery.objects.filter(pk=case_query.pk).annotate(gap=middle - anchor_position).filter(wide_enough)
    return bool(target.update(position=middle))


def _renumber(case: Case) -> None:
    """Numbers the queries 1, 2, 3 … in their present order. One statement: in batches a rating would have to wait for it."""
    table = connection.ops.quote_name(CaseQuery._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET position = numbered.number FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY position, id) "
            f"AS number FROM {table} WHERE case_id = %s) AS numbered WHERE numbered.id = {table}.id",
            [case.pk],
        )
