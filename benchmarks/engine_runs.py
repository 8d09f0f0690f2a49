"""Runs of 1,000 queries against Elasticsearch and OpenSearch, next to a bare loop of single searches with each one's client.

    python benchmarks/engine_runs.py [elasticsearch] [opensearch] [--queries N] [--quick] [--check]

Ours: a run from start to finish as `evaluate` does it: 10 results, 3 displayed fields, rankings and scores of the default
scorer stored in SQLite (or where RELEVANCY_DATABASE_URL says); the engine gets a hundred queries at a time and works on 8
of them at once. Theirs: the client elasticsearch or opensearch-py sending the same bodies one by one from a pool of 8
threads, storing nothing, with as many open connections. Both are warmed up, then take turns, each of them first every other
time. Target: ours takes less time on the clock, and less CPU time of this process and the engine together, as medians of the
ratios of 9 pairs of turns. On a machine that has other work, a process with more threads gets a larger share of it, so the
time on the clock favours theirs, which has twice as many; the load stands beside it, and the CPU time does not depend on it.

Data: see product_case.py. The engines are those of the live tests (`make engines` fetches them).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import options
import product_case
from elasticsearch import Elasticsearch
from opensearchpy import OpenSearch

from tests.live.indexing import make_elasticsearch_index

TEMPLATE = """{"query": {"multi_match": {
  "query": "#$query##", "fields": ["title^2", "short_description", "supplier"], "tie_breaker": 0.1
}}}"""
READY = "/_cluster/health?wait_for_status=yellow&timeout=1s"
INDEX = "products"
CLIENTS: dict[str, Callable[[str], Any]] = {
    "elasticsearch": lambda url: Elasticsearch(url, connections_per_node=product_case.PARALLEL),
    # By default it keeps one connection open and opens the others again for every search.
    "opensearch": lambda url: OpenSearch(url, pool_maxsize=product_case.PARALLEL),
}
NAMES = {"elasticsearch": "elasticsearch", "opensearch": "opensearch-py"}


def bare(client: Any, sent: list[dict[str, Any]]) -> int:
    """The same bodies, one request each."""
    return product_case.loop(lambda body: len(client.search(index=INDEX, body=body)["hits"]["hits"]), sent)


def measure(kind: str, given: product_case.Material, rounds: int) -> bool:
    """One engine from start to stop."""
    with product_case.engine(kind, READY, {"ES_HEAP": "512m", "OS_HEAP": "512m"}) as server:
        url = make_elasticsearch_index(server, INDEX, given.documents)
        attempt = product_case.make_attempt(kind, url, TEMPLATE, given)
        sent = product_case.rendered(attempt, "body")
        client = CLIENTS[kind](server.url)
        try:
            time, cpu = product_case.compare(
                attempt, NAMES[kind], lambda: bare(client, sent), server, rounds, given.source
            )
        finally:
            client.close()
    good = options.verdict(time < 1, f"ratio of time below 1, it is {time:.2f}")
    return options.verdict(cpu < 1, f"ratio of CPU time below 1, it is {cpu:.2f}") and good


if __name__ == "__main__":
    line = options.parser(__doc__, 1000)
    line.add_argument("engines", nargs="*", metavar="ENGINE", help="elasticsearch, opensearch; both unless given")
    chosen = options.read(line, quick=20, rounds=9)
    given = product_case.material(chosen.queries, quick=chosen.quick)
    good = [measure(kind, given, chosen.rounds) for kind in chosen.engines or CLIENTS]
    raise SystemExit(options.status(chosen, all(good)))
