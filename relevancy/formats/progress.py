"""How far a file that is being written has come: what reads queries counts them, and whoever writes the file listens."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import batched

PART = 500

_report: ContextVar[Callable[[int], None] | None] = ContextVar("report", default=None)


def count_read(queries: int) -> None:
    """Called when so many more queries, or rankings of a run, have been written."""
    if report := _report.get():
        report(queries)


def count_rows[T](rows: Iterable[T]) -> Iterator[T]:
    """Yields rows, each of a query or ranking, and counts them."""
    for part in batched(rows, PART):
        yield from part
        count_read(len(part))


@contextmanager
def reported_to(report: Callable[[int], None]) -> Iterator[None]:
    """Calls `report` with the sum after each `count_read` in the block."""
    done = 0

    def add(queries: int) -> None:
        nonlocal done
        done += queries
        report(done)

    token = _report.set(add)
    try:
        yield
    finally:
        _report.reset(token)
