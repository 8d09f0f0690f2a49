"""Scripts in the sandbox: queries a second in the child and end to end, and how long a first script waits.

    python benchmarks/sandbox.py [--queries N]

Data: synthetic, from a fixed seed: 10 results a query with three displayed fields, 20 rated documents, scale 0–3. "In the
child" is the processor time of the child process: reading the pipe, JSON, the scripts, garbage, the answers.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from pathlib import Path
from statistics import median

from relevancy import sandbox
from relevancy.sandbox.pool import POOL

ROUNDS = 5
RESULTS, RATED = 10, 20
DEFAULT = "var mean = avgRating100(10); setScore(mean === null ? null : mean - editDistanceFromBest(10));"
GAIN = """
const k = 10;
let sum = 0, ideal = 0;
eachDoc(function (doc, i) { sum += (Math.pow(2, hasDocRating(i) ? docRating(i) : 0) - 1) / Math.log2(i + 2); }, k);
topRatings(k).forEach(function (grade, i) { ideal += (Math.pow(2, grade) - 1) / Math.log2(i + 2); });
setScore(100 * sum / ideal);
"""


def synthetic(count: int) -> list[sandbox.Scored]:
    chance = random.Random(4)
    made = []
    for number in range(count):
        names = [f"doc-{chance.randrange(10**6):06d}-{place}" for place in range(RESULTS + RATED)]
        docs = [
            {"id": name, "title": f"A thing called {name}", "brand": "Acme", "price": 9.5} for name in names[:RESULTS]
        ]
        known = {name: chance.choice((0, 1, 2, 3)) for name in chance.sample(names, RATED)}
        made.append(sandbox.Scored(f"query {number}", docs, [known.get(doc["id"]) for doc in docs], known, 1000))
    return made


def used() -> float:
    """Processor seconds of the children so far."""
    ticks = [Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[11:13] for child in POOL.all]
    return sum(int(tick) for both in ticks for tick in both) / os.sysconf("SC_CLK_TCK")


def seconds(script: str, queries: list[sandbox.Scored]) -> tuple[float, float]:
    """End to end by the clock, and in the child."""
    before, start = used(), time.perf_counter()
    found = sandbox.score(script, queries, scale=(0, 1, 2, 3), shown=RESULTS)
    whole = time.perf_counter() - start
    assert len(found) == len(queries) and not any(outcome.error for outcome in found)
    return whole, used() - before


def main(count: int) -> None:
    queries = synthetic(count)
    firsts = []
    for _ in range(ROUNDS):
        sandbox.close()
        firsts.append(seconds("setScore(1)", queries[:1])[0])
    print(f"first script of a process: {median(firsts):.3f} s (start-up of the child and one query)")
    again = median(seconds("setScore(1)", queries[:1])[0] for _ in range(ROUNDS))
    print(f"a script over one query, child running: {again * 1000:.1f} ms")
    for name, script in (("default scorer", DEFAULT), ("nDCG", GAIN)):
        rounds = [seconds(script, queries) for _ in range(ROUNDS)]
        whole, inside = median(whole for whole, _ in rounds), median(inside for _, inside in rounds)
        print(
            f"{name}, {count:,} queries × {RESULTS} results: in the child {inside:.3f} s = {count / inside:,.0f} queries a "
            f"second; end to end {whole:.3f} s = {count / whole:,.0f} a second"
        )
    sandbox.close()


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--queries", type=int, default=10_000)
    main(arguments.parse_args().queries)
