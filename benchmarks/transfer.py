"""The exports of a case with a million ratings, each as a command of its own: seconds of CPU, and peak memory.

    python benchmarks/transfer.py [--queries N] [--rows N] [--quick] [--check]

The case has N queries (2,000 unless given) that share the ratings. Imports are measured by `importing.py`. On SQLite, or on the server
that RELEVANCY_DATABASE_URL names. Targets: at most 20 s of CPU and 300 MB for each format.
"""

from __future__ import annotations

import os
import sys
import tempfile
from itertools import batched
from pathlib import Path

import options
from django.db import connection
from django.utils import timezone
from importing import own_environment
from invented import query_texts
from large_case import make_case
from own_environment import ROOT

from relevancy.models import Case, Rating, User

SECONDS, MEGABYTES, BATCH = 20, 300, 10_000
COMMANDS = [
    *(["export_ratings", "--format", name] for name in ("csv", "trec", "ltr", "rre", "json", "rankquest")),
    ["export_case"],
]


def main() -> int:
    line = options.parser(__doc__, 2_000)
    line.add_argument("--rows", type=int, default=1_000_000, metavar="N", help="1,000,000 unless given")
    said = options.read(line, 20)
    if said.quick:
        said.rows = 2_000
    owner = User.objects.create_superuser("owner@example.com", "secret of the owner")
    case = make_case("large", query_texts(said.queries), owner)
    fill(case, said.rows)
    print(f"{said.rows:,} ratings, {connection.vendor}, load {os.getloadavg()[0]:.1f}; invented data")
    with tempfile.TemporaryDirectory() as folder:
        good = [measure(words, case, Path(folder) / "export") for words in COMMANDS]
    return options.status(said, options.verdict(all(good), f"at most {SECONDS} s of CPU and {MEGABYTES} MB"))


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


def measure(words: list[str], case: Case, path: Path) -> bool:
    """Exports the case. Returns whether the targets were met."""
    process = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "relevancy", words[0], str(case.pk), *words[1:], "--output", str(path)],
        own_environment(),
    )
    _, status, usage = os.wait4(process, 0)  # the peak of this one child
    if status:
        raise SystemExit(f"{' '.join(words)} ended with {os.waitstatus_to_exitcode(status)}.")
    seconds, megabytes = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    size = path.stat().st_size / 1e6
    print(f"  {' '.join(words)}: {seconds:.1f} s of CPU, peak {megabytes:.0f} MB, {size:.1f} MB written", flush=True)
    return seconds <= SECONDS and megabytes <= MEGABYTES


if __name__ == "__main__":
    os.chdir(ROOT)  # where `-m relevancy` is found
    sys.exit(main())
