"""The order of a case's queries by hand.

Positions are numbers with room between them: a move writes one row, between its new neighbours. Only where halving has used the
room up are all rows numbered anew. Removed queries keep their position, and count as neighbours.
"""

from django.db import connection, transaction
from django.db.models import FloatField, Max, Min, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from relevancy.models import Case, CaseQuery

from .errors import Refused

STEP = 1.0
TOO_CLOSE = 1e-6  # of two neighbours: about twenty moves to one place use the room of a step up


def move(*, case: Case, entry: CaseQuery, before: CaseQuery | None = None, after: CaseQuery | None = None) -> None:
    """Put a query right before another one of the case, or right after it. Two statements, whatever the size of the case.

    `entry.position` is brought up to date. Raises `Refused` where neither or both are named, or one is not in the case.
    """
    anchor = after if before is None else before
    if anchor is None or (before is not None and after is not None):
        raise Refused("Say before which query it shall stand, or after which one.", field="place")
    if {entry.case_id, anchor.case_id} != {case.pk}:
        raise Refused("That query is not in this case any more. Reload the page.", field="place")
    if anchor.pk == entry.pk:
        return
    with transaction.atomic():
        _lock(case)
        if not _squeeze_in(entry, anchor, ahead=before is not None):
            _number_anew(case)
            if not _squeeze_in(entry, anchor, ahead=before is not None):
                raise Refused("That query is not in this case any more. Reload the page.", field="place")
    entry.refresh_from_db(fields=["position"])


def move_by(entry: CaseQuery, steps: int) -> bool:
    """Move a query down by so many places of the list, up where `steps` is negative; beyond the ends it stays there.

    False where it stands there already.
    """
    if not steps:
        return False
    with transaction.atomic():
        _lock(entry.case)
        entry.refresh_from_db(fields=["position"])
        others = _beyond(entry, entry.case.case_queries.present(), ahead=steps < 0)
        order = ("-position", "-id") if steps < 0 else ("position", "id")
        passed = list(others.order_by(*order)[: abs(steps)])
        if not passed:
            return False
        side = {"before": passed[-1]} if steps < 0 else {"after": passed[-1]}
        move(case=entry.case, entry=entry, **side)
    return True


def _lock(case: Case) -> None:
    """Two moves at one moment would squeeze in at the same place."""
    list(Case.objects.filter(pk=case.pk).select_for_update(no_key=True).values_list("pk"))


def _beyond(anchor: CaseQuery, entries: QuerySet[CaseQuery], *, ahead: bool) -> QuerySet[CaseQuery]:
    """Those that stand before a query (`ahead`), or after it."""
    side = "lt" if ahead else "gt"
    further = Q(**{f"position__{side}": anchor.position})
    return entries.filter(further | Q(**{"position": anchor.position, f"id__{side}": anchor.pk}))


def _squeeze_in(entry: CaseQuery, anchor: CaseQuery, *, ahead: bool) -> bool:
    """Half-way between the anchor and its neighbour on that side; False, and nothing is written, where there is no room."""
    there = CaseQuery.objects.filter(pk=anchor.pk, case=entry.case_id).order_by().values("position")[:1]
    # The anchor's position is read in the statement itself: somebody may have moved it since it was shown.
    spot = Subquery(there, output_field=FloatField())
    side = "lt" if ahead else "gt"
    beyond = Q(**{f"position__{side}": spot}) | Q(**{"position": spot, f"id__{side}": anchor.pk})
    edge = Max("position") if ahead else Min("position")
    others = CaseQuery.objects.filter(beyond, case=entry.case_id).exclude(pk=entry.pk).order_by()
    nearest = Subquery(others.values("case").annotate(edge=edge).values("edge"), output_field=FloatField())
    end = spot + Value(-2 * STEP if ahead else 2 * STEP, output_field=FloatField())
    middle = (spot + Coalesce(nearest, end, output_field=FloatField())) / Value(2.0)
    room = Q(room__gt=TOO_CLOSE) | Q(room__lt=-TOO_CLOSE)
    free = CaseQuery.objects.filter(pk=entry.pk).annotate(room=middle - spot).filter(room)
    return bool(free.update(position=middle))


def _number_anew(case: Case) -> None:
    """1, 2, 3 … in the order they have. One statement, because in batches a rating would have to wait for it."""
    table = connection.ops.quote_name(CaseQuery._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET position = numbered.place FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY position, id) "
            f"AS place FROM {table} WHERE case_id = %s) AS numbered WHERE numbered.id = {table}.id",
            [case.pk],
        )
