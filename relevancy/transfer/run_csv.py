"""A run as CSV, in the format of Quepid's snapshots."""

import json
from collections.abc import Iterator
from typing import Any

from django.db.models import Exists, OuterRef, Subquery

from relevancy.models import Run

from .cells import Cell, write_rows

HEADER = ("Snapshot Name", "Snapshot Time", "Case ID", "Query Text", "Doc ID", "Doc Position")
CHUNK = 200  # rankings in memory at once


def export_run(*, run: Run) -> Iterator[str]:
    """Yields a row per ranked document with its displayed fields, in the order of the case's queries; positions start at 1.

    The rankings are read twice, because the header has the names of all fields.
    """
    in_case = run.case.case_queries.present().filter(query=OuterRef("query"))
    in_order = run.rankings.filter(Exists(in_case), error_kind="").annotate(
        position=Subquery(in_case.values("position")[:1])
    )
    rankings = in_order.defer("explanations").order_by("position", "id")
    names = list(
        dict.fromkeys(
            name
            for ranking in rankings.iterator(chunk_size=CHUNK)
            for _, _, fields, *_ in ranking.hits
            for name in fields
        )
    )
    snapshot = (run.note or f"Run {run.number}", run.created_at.isoformat(timespec="seconds"), str(run.case_id))
    rows = (
        (*snapshot, ranking.text, doc_id, rank, *(_format_value(fields.get(name)) for name in names))
        for ranking in rankings.iterator(chunk_size=CHUNK)
        for rank, (doc_id, _, fields, *_) in enumerate(ranking.hits, 1)
    )
    return write_rows((*HEADER, *names), rows)


def _format_value(value: Any) -> Cell:
    """Returns a field's value as a cell: text and numbers as they are, other JSON values as JSON."""
    if value is None:
        return ""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return value
    return json.dumps(value, ensure_ascii=False)
