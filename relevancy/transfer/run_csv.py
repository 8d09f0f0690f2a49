"""A run as the CSV that Quepid calls a snapshot."""

import json
from typing import Any

from django.db.models import Exists, OuterRef, Subquery

from relevancy.models import Run

from .cells import write_rows

HEADER = ("Snapshot Name", "Snapshot Time", "Case ID", "Query Text", "Doc ID", "Doc Position")


def export_run(*, run: Run) -> str:
    """One line per ranked document with its displayed fields, in the order of the case's queries; positions count from 1."""
    present = run.case.case_queries.present().filter(query=OuterRef("query"))
    placed = run.rankings.filter(Exists(present), error_kind="").annotate(
        place=Subquery(present.values("position")[:1])
    )
    rankings = list(placed.order_by("place", "id"))
    names = list(dict.fromkeys(name for ranking in rankings for _, _, fields, *_ in ranking.hits for name in fields))
    head = (run.note or f"Run {run.number}", run.created_at.isoformat(timespec="seconds"), str(run.case_id))
    rows = [
        (*head, ranking.text, doc_id, rank, *(_cell(fields.get(name)) for name in names))
        for ranking in rankings
        for rank, (doc_id, _, fields, *_) in enumerate(ranking.hits, 1)
    ]
    return write_rows((*HEADER, *names), rows)


def _cell(value: Any) -> str | int | float:
    if value is None:
        return ""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return value
    return json.dumps(value, ensure_ascii=False)
