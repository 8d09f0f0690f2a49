"""Runs as CSV, in the format of Quepid's snapshots."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from relevancy.formats.cells import Cell, row_text, write_rows
from relevancy.formats.progress import count_read
from relevancy.models import Case, DocumentCache, Run, unpack_numbers
from relevancy.runs import field_spec

HEADER = ("Snapshot Name", "Snapshot Time", "Case ID", "Query Text", "Doc ID", "Doc Position")
CHUNK = 200  # rankings in memory at once


def export_run(*, run: Run) -> Iterator[str]:
    """Yields a row per ranked document with its displayed fields, in the order of the case's queries; positions start at 1.

    Rankings are read until the names of all fields are known, which the header has, and then all of them; see `ranking_parts`.
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
    yield from write_rows((*HEADER, *names), ())
    for run in runs:
        yield from _rows_of_run(run, names)


def _rows_of_run(run: Run, names: Sequence[str]) -> Iterator[str]:
    """Yields the rows of a run. They are put together of their parts: of the run, the query, and the document, which occurs often."""
    name, time = run.name or run.note or f"Run {run.number}", run.created_at.isoformat(timespec="seconds")
    of_run = row_text((name, time, str(run.case_id), ""))

    def make_cells(doc_id: str, fields: dict[str, Any] | None) -> tuple[str, str]:
        """Returns the cells of a document before and after its position."""
        values = [format_value(value) for value in map((fields or {}).get, names)]
        return row_text((doc_id, "")), row_text(("", *values)) if names else ""

    documents = DocumentCache(("doc_id", "fields"), make_cells)
    for rankings in ranking_parts(run, ("former_text", "query__text", "returned", "documents"), error_kind=""):
        rows = [(former_text or text, unpack_numbers(packed, count)) for former_text, text, count, packed in rankings]
        cells = documents.read(number for _, numbers in rows for number in numbers)
        lines = []
        for text, numbers in rows:
            start = of_run + row_text((text, ""))
            lines += [f"{start}{cells[number][0]}{rank}{cells[number][1]}\n" for rank, number in enumerate(numbers, 1)]
        yield "".join(lines)
        count_read(len(rankings))


def field_names(runs: Sequence[Run]) -> list[str]:
    """Returns the names of the fields that documents of the runs have, in the order in which they occur. A run whose displayed fields
    are named is read until all of them have occurred."""
    found: dict[str, None] = {}
    documents = DocumentCache(("fields",), lambda fields: tuple(fields or ()))
    for run in runs:
        spec = field_spec(run.config)
        possible = None if spec.names is None else {*spec.names, *spec.functions}
        for rankings in ranking_parts(run, ("returned", "documents"), error_kind=""):
            numbers = [number for count, packed in rankings for number in unpack_numbers(packed, count)]
            names = documents.read(numbers)
            found |= dict.fromkeys(name for number in dict.fromkeys(numbers) for name in names[number])
            count_read(0)
            if possible is not None and possible <= found.keys():
                break
    return list(found)


def ranking_parts(run: Run, columns: Sequence[str], **conditions: Any) -> Iterator[list[tuple[Any, ...]]]:
    """Yields the columns of the rankings of a run for the queries of its case, in their order, 200 at a time. Two SQL statements for
    these, both of which read by key."""
    for part in run.case.case_queries.in_parts(CHUNK):
        query_ids = [query_id for _, query_id in part]
        rankings = run.rankings.filter(query__in=query_ids, **conditions).order_by()
        by_query = {query_id: row for query_id, *row in rankings.values_list("query_id", *columns)}
        yield [tuple(by_query[query_id]) for query_id in query_ids if query_id in by_query]


def format_value(value: Any) -> Cell:
    """Returns a field's value as a cell: text and numbers as they are, other JSON values as JSON."""
    if value is None:
        return ""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return value
    return json.dumps(value, ensure_ascii=False)
