"""`import_ratings` with a million ratings: seconds, peak memory, and how long one rating waits meanwhile.

    python benchmarks/importing.py [--queries N] [--rows N] [--quick] [--check]

The rows are ratings of 100 documents for each query, of which the case has N (500 unless given) and the file has the rest. They are
imported twice: new, then all with other grades. Meanwhile one user rates documents of another book, ten times a second. On SQLite, or
on the server that RELEVANCY_DATABASE_URL names. Targets: at most 60 s and 300 MB, and no rating waits longer than 1 s.
"""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import quantiles

import fresh_site
import options
from django.db import connection
from invented import query_texts
from large_case import make_case
from own_environment import ROOT, environment, run_command

from relevancy import ratings
from relevancy.models import Case, Rating, RatingChange, User

SECONDS, MEGABYTES, WAIT, PAUSE = 60, 300, 1.0, 0.1


def main() -> int:
    line = options.parser(__doc__, 500)
    line.add_argument("--rows", type=int, default=1_000_000, metavar="N", help="1,000,000 unless given")
    chosen = options.read(line, 20)
    if chosen.quick:
        chosen.rows = 2_000
    owner = User.objects.create_superuser("owner@example.com", "secret of the owner")
    case, other = (make_case(name, query_texts(chosen.queries), owner) for name in ("large", "other"))
    good = True
    print(f"{chosen.rows:,} rows, {connection.vendor}, load {os.getloadavg()[0]:.1f}; invented data")
    with tempfile.TemporaryDirectory() as folder:
        for label, shift in (("new ratings", 0), ("other grades", 1)):
            path = Path(folder) / f"{shift}.csv"
            write_file(path, chosen.rows, shift)
            good &= measure(label, case, other, path)
    print(f"  {Rating.objects.count():,} ratings and {RatingChange.objects.count():,} changes are stored")
    return options.status(
        chosen, options.verdict(good, f"at most {SECONDS} s, {MEGABYTES} MB, and {WAIT:g} s for a rating")
    )


def write_file(path: Path, rows: int, shift: int) -> None:
    """Ratings of 100 documents for each query."""
    with path.open("w", encoding="utf-8") as file:
        file.write("query,docid,rating\n")
        file.writelines(
            f"imported {number // 100},document-{number % 100},{(number + shift) % 2 + 1}\n" for number in range(rows)
        )


def measure(label: str, case: Case, other: Case, path: Path) -> bool:
    """Import a file while a user rates in another book. Returns whether the targets were met."""
    waits: list[float] = []
    stop = threading.Event()
    thread = threading.Thread(target=rate, args=(other, waits, stop))
    thread.start()
    try:
        used = run_command(["import_ratings", str(case.pk), str(path)], own_environment())
    finally:
        stop.set()
        thread.join()
    print(
        f"  {label}: {used.seconds:.1f} s ({used.cpu:.1f} s of CPU), peak {used.megabytes:.0f} MB; "
        f"{len(waits)} ratings: p95 {quantiles(waits, n=20, method='inclusive')[-1]:.3f} s, at most {max(waits):.3f} s",
        flush=True,
    )
    return used.seconds <= SECONDS and used.megabytes <= MEGABYTES and max(waits) <= WAIT


def own_environment() -> dict[str, str]:
    """The environment of a process on the database of this one."""
    own = environment(fresh_site.DATA)
    if url := own.get("RELEVANCY_DATABASE_URL"):
        own["RELEVANCY_DATABASE_URL"] = f"{url.rpartition('/')[0]}/{connection.settings_dict['NAME']}"
    return own


def rate(case: Case, waits: list[float], stop: threading.Event) -> None:
    query = case.case_queries.select_related("query__book").first().query
    for grade in itertools.cycle((1, 2)):
        started = time.perf_counter()
        ratings.rate(query=query, doc_id="rated meanwhile", value=grade, by=case.owner)
        waits.append(time.perf_counter() - started)
        if stop.wait(PAUSE):
            break
    connection.close()


if __name__ == "__main__":
    os.chdir(ROOT)  # where `-m relevancy` is found
    sys.exit(main())
