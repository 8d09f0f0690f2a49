"""Hostile requests to every route: how many end in an error of the server. Target: none.

    python benchmarks/fuzzing.py [--requests N] [--seed S] [--quick] [--check]

The site is a temporary one, on SQLite, or on the server that RELEVANCY_DATABASE_URL names. See tests/views/fuzzing.py for what
is sent. The same seed sends the same requests to the same state of the code.
"""

from __future__ import annotations

import logging
import sys
import time
from collections import Counter

import fresh_site  # noqa: F401 (settings)
import options

from tests.views.fuzzing import Fuzzer


def main() -> int:
    line = options.parser(__doc__, 0)
    line.add_argument("--requests", type=int, default=100_000, metavar="N", help="100,000 unless given")
    line.add_argument("--seed", type=int, default=1, metavar="S")
    chosen = line.parse_args()
    logging.disable(logging.CRITICAL)
    fuzzer = Fuzzer(chosen.seed)
    started = time.monotonic()
    fuzzer.requests(100 if chosen.quick else chosen.requests, progress=not chosen.quick)
    sent = sum(fuzzer.statuses.values()) + sum(not text.startswith("status") for text in fuzzer.failures)
    print(
        f"{sent:,} requests to {len(fuzzer.routes)} routes and {len(fuzzer.forms)} forms in {time.monotonic() - started:.0f} s; "
        "invented data"
    )
    print("statuses:", ", ".join(f"{status}: {count:,}" for status, count in sorted(fuzzer.statuses.items())))
    for text, count in Counter(text.partition("\n")[0] for text in fuzzer.failures).most_common():
        example = next(failure for failure in fuzzer.failures if failure.startswith(text))
        print(f"{count} × {example}")
    return options.status(chosen, options.verdict(not fuzzer.failures, "no error of the server"))


if __name__ == "__main__":
    sys.exit(main())
