"""The activity log of a case or a team as CSV: one line for each entry, newest first."""

from collections.abc import Iterable, Iterator

from relevancy.formats.cells import write_rows

from .entries import Entry

COLUMNS = ("at", "by", "kind", "action", "subject", "object_id", "text")


def export_lines(entries: Iterable[Entry]) -> Iterator[str]:
    """Yields the text in parts. `at` is in UTC; `object_id` is empty where there is none."""
    rows = (
        (
            entry.at.isoformat(timespec="seconds"),
            entry.person,
            entry.kind,
            entry.action,
            entry.subject,
            entry.object_id,
            entry.text,
        )
        for entry in entries
    )
    return write_rows(COLUMNS, rows)
