"""A run of 1,000 queries against a local Solr, next to a bare loop of the same requests with pysolr.

    python benchmarks/solr_run.py [--queries N] [--quick] [--check]

Ours: a run from start to finish as `evaluate` does it: 10 results, 3 displayed fields, 8 requests at once, rankings and
scores of the default scorer stored in SQLite. Theirs: pysolr sending the same parameters from a pool of 8 threads,
storing nothing. Both are warmed up, then take turns; median of the ratios of 5 pairs. Target: ours takes at most 1.5 times as long.

Data: see product_case.py. Solr is the one of the live tests (`make engines` fetches it).
"""

from __future__ import annotations

from typing import Any

import options
import product_case
import pysolr

from tests.live.indexing import make_solr_core

TEMPLATE = "q=#$query##&defType=edismax&qf=title^2 short_description supplier&tie=0.1"
SCHEMA = {
    **dict.fromkeys(("name", "short_description"), "text_en"),
    **dict.fromkeys(("date_released", "attr_t_product_colour", "attr_t_product_type"), "string"),
    "supplier": "text_general",
    "price": "pint",
    "ean": "string[]",
}
MOST = 1.5


def bare(url: str, sent: list[dict[str, Any]]) -> int:
    """The same requests by pysolr."""
    client = pysolr.Solr(url, timeout=30)

    def ask(params: dict[str, Any]) -> int:
        rest = {name: value for name, value in params.items() if name != "q"}
        return len(client.search(params["q"], **rest).docs)

    return product_case.loop(ask, sent)


if __name__ == "__main__":
    chosen = options.read(options.parser(__doc__, 1000), quick=20, rounds=5)
    given = product_case.material(chosen.queries, quick=chosen.quick)
    with product_case.engine("solr", "/solr/admin/info/system", {"SOLR_HEAP": "512m"}) as server:
        url = make_solr_core(server, "products", given.documents, SCHEMA)
        attempt = product_case.make_attempt("solr", url, TEMPLATE, given)
        sent = product_case.rendered(attempt, "params")
        ratio, _ = product_case.compare(attempt, "pysolr", lambda: bare(url, sent), server, chosen.rounds, given.source)
    good = options.verdict(ratio <= MOST, f"ratio at most {MOST:g}, it is {ratio:.2f}")
    raise SystemExit(options.status(chosen, good))
