"""The exports of a case with many queries, and of one with a million ratings, and the import of its book, each as a command of its own:
time, peak memory and, of many queries, how many a second.

    python benchmarks/transfer.py [--many N] [--queries N] [--rows N] [--quick] [--check]

The first case has N queries (60,000 unless given) with ten ratings each and two runs with ten results for each, of which one is pinned;
the second one has N queries (2,000 unless given) that share the ratings. Imports of ratings into a case are measured by `importing.py`.
On SQLite, or on the server that RELEVANCY_DATABASE_URL names. Targets: at most 20 s of CPU and 300 MB for each export of 60,000 queries
or a million ratings; 60 s and 300 MB for the import.
"""

from __future__ import annotations

import os
import sys
import tempfile
from itertools import batched
from pathlib import Path

import options
from django.db import connection
from django.db.models import F
from django.utils import timezone
from importing import own_environment
from invented import query_texts
from large_case import make_case, multiply
from own_environment import ROOT, run_command

from relevancy.models import Case, Rating, User

SECONDS, IMPORT_SECONDS, MEGABYTES, BATCH = 20, 60, 300, 10_000
MANY, ORIGINALS = 60_000, 1_000  # queries of the first case; those that are made, of which the others are copies
FORMATS = ("csv", "trec", "ltr", "rre", "json", "rankquest")


def main() -> int:
    line = options.parser(__doc__, 2_000)
    line.add_argument("--rows", type=int, default=1_000_000, metavar="N", help="1,000,000 unless given")
    line.add_argument("--many", type=int, default=MANY, metavar="N", help="60,000 unless given; in thousands")
    chosen = options.read(line, 20)
    if chosen.quick:
        chosen.rows, chosen.many = 2_000, 40
    owner = User.objects.create_superuser("owner@example.com", "secret of the owner")
    formats = FORMATS[: 1 if chosen.quick else None]
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "export")
        good = export_many(make_many(chosen.many, owner), path, formats, chosen.many)
        case = make_case("large", query_texts(chosen.queries), owner)
        fill(case, chosen.rows)
        print(f"{chosen.rows:,} ratings, {connection.vendor}, load {os.getloadavg()[0]:.1f}; invented data")
        exports = [["export_ratings", str(case.pk), "--format", name] for name in formats]
        exports += [["export_case", str(case.pk)], ["export_book", str(case.book_id)]]
        good += [measure([*words, "--output", path], path) for words in exports]
        good.append(measure(["import_book", path], path, import_seconds=IMPORT_SECONDS))  # the file of the last export
    return options.status(
        chosen,
        options.verdict(all(good), f"at most {SECONDS} s of CPU, {IMPORT_SECONDS} s for an import, and {MEGABYTES} MB"),
    )


def make_many(queries: int, owner: User) -> Case:
    """A case of so many queries with a pinned run."""
    originals = min(queries, ORIGINALS)
    case = make_case("many", query_texts(originals), owner)
    if queries > originals:
        multiply(case, queries // originals)
    case.runs.filter(number=1).update(pinned_at=F("created_at"))
    return case


def export_many(case: Case, path: str, formats: tuple[str, ...], queries: int) -> list[bool]:
    """Exports a case with its run and book in every format. Returns whether the targets were met."""
    run, case_id, book_id = str(case.runs.get(number=1).pk), str(case.pk), str(case.book_id)
    print(f"{queries:,} queries, {connection.vendor}, load {os.getloadavg()[0]:.1f}; invented data")
    exports = [["export_run", run, "--format", name] for name in ("csv", "trec")]
    exports += [["export_ratings", case_id, "--format", name] for name in formats]
    exports += [["export_queries", case_id]]
    exports += [["export_case", case_id, "--format", name] for name in ("relevancy", "snapshots")]
    exports += [["export_book", book_id, "--format", name] for name in ("relevancy", "ratings")]
    return [measure([*words, "--output", path], path, queries=queries) for words in exports]


def fill(case: Case, rows: int) -> None:
    """Stores as many ratings of every query."""
    now = timezone.now()
    queries = list(case.book.queries.values_list("pk", flat=True))
    ratings = (
        Rating(
            query_id=queries[number % len(queries)],
            doc_id=f"document-{number // len(queries)}",
            rater=case.owner,
            value=number % 3,
            created_at=now,
            updated_at=now,
        )
        for number in range(rows)
    )
    for batch in batched(ratings, BATCH):
        Rating.objects.bulk_create(batch)


def measure(words: list[str], path: str, import_seconds: int | None = None, queries: int = 0) -> bool:
    """Runs a command that reads or writes the file. Returns whether its targets were met.

    import_seconds: the limit of the time from start to end; an export has one of CPU time. queries: that are exported, where that is
    what matters.
    """
    used = run_command(words, own_environment())
    label = " ".join(word for word in words if word not in {"--output", path} and not word.isdigit())
    size = Path(path).stat().st_size / 1e6
    rate = f"{queries / used.seconds:,.0f} queries/s, " if queries else ""
    print(
        f"  {label}: {used.seconds:.1f} s, {rate}{used.cpu:.1f} s of CPU, peak {used.megabytes:.0f} MB, file of {size:.1f} MB",
        flush=True,
    )
    limit = SECONDS * max(1, queries / MANY)
    is_fast = used.cpu <= limit if import_seconds is None else used.seconds <= import_seconds
    return is_fast and used.megabytes <= MEGABYTES


if __name__ == "__main__":
    os.chdir(ROOT)  # where `-m relevancy` is found
    sys.exit(main())
