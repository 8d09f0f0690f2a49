"""Runs as CSV, in the format of Quepid's snapshots."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import Exists, OuterRef, Subquery

from relevancy.formats.cells import Cell, write_rows
from relevancy.models import Case, Run

HEADER = ("Snapshot Name", "Snapshot Time", "Case ID", "Query Text", "Doc ID", "Doc Position")
CHUNK = 200  # rankings in memory at once


def export_run(*, run: Run) -> Iterator[str]:
    """Yields a row per ranked document with its displayed fields, in the order of the case's queries; positions start at 1.

    The rankings are read twice, because the header has the names of all fields.
    """
    return export_runs([run])


def export_pinned(*, case: Case) -> Iterator[str]:
    """Yields the pinned runs of a case as one file, the oldest first."""
    return export_runs(pinned_runs(case))


def pinned_runs(case: Case) -> list[Run]:
    """Returns the pinned runs of a case with attempts and endpoints, the oldest first."""
    pinned = Run.objects.finished().filter(case=case, pinned_at__isnull=False)
    return list(pinned.select_related("case", "attempt__endpoint").order_by("number"))


def export_runs(runs: Sequence[Run]) -> Iterator[str]:
    """Yields runs one after the other, as `export_run` does. Each is a snapshot with its name, or its note, or its number."""
    names = field_names(runs)
    rows = (
        (
            run.name or run.note or f"Run {run.number}",
            run.created_at.isoformat(timespec="seconds"),
            str(run.case_id),
            ranking.text,
            doc_id,
            rank,
            *(format_value(fields.get(name)) for name in names),
        )
        for run in runs
        for ranking in rankings_of(run).filter(error_kind="").iterate(CHUNK)
        for rank, (doc_id, _, fields, *_) in enumerate(ranking.hits, 1)
    )
    return write_rows((*HEADER, *names), rows)


def field_names(runs: Sequence[Run]) -> list[str]:
    """Returns the names of the fields that documents of the runs have, in the order in which they occur."""
    return list(
        dict.fromkeys(
            name
            for run in runs
            for ranking in rankings_of(run).filter(error_kind="").iterate(CHUNK)
            for _, _, fields, *_ in ranking.hits
            for name in fields
        )
    )


def rankings_of(run: Run) -> Any:
    """Returns the rankings of a run for the queries of its case, in their order."""
    in_case = run.case.case_queries.present().filter(query=OuterRef("query"))
    in_order = run.rankings.filter(Exists(in_case)).annotate(position=Subquery(in_case.values("position")[:1]))
    return in_order.select_related("query").defer("explanations").order_by("position", "query_id")


def format_value(value: Any) -> Cell:
    """Returns a field's value as a cell: text and numbers as they are, other JSON values as JSON."""
    if value is None:
        return ""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return value
    return json.dumps(value, ensure_ascii=False)
