"""The main task on 19,406 real products and 135 rated queries, by commands, on four engines; checked with ir-measures."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ir_measures
import pytest
import urllib3
from django.core.management import call_command

from relevancy.models import Case, QueryScore, User
from tests.factories import make_user
from tests.live.indexing import make_solr_core
from tests.live.servers import Server
from tests.oracles import evaluate_by_ir_measures
from tests.shared_data import ROOT, shared_data

DATA = ROOT / "products"
SCORERS = ("nDCG@10", "AP@10", "P@10", "RR@10", "Judged@10", "nDCG linear")
ORACLES = {
    "nDCG@10": ir_measures.nDCG @ 10,  # on gains of 2^grade - 1, see `_qrels`
    "nDCG linear": ir_measures.nDCG @ 10,
    "AP@10": ir_measures.AP @ 10,
    "P@10": ir_measures.P @ 10,
    "RR@10": ir_measures.RR @ 10,
    "Judged@10": ir_measures.Judged @ 10,
}
EDISMAX = "q=#$query##&defType=edismax&qf=title^##boost## short_description supplier&tie=0.1&q.op=OR"
MULTI_MATCH = """{"query": {"multi_match": {
  "query": "#$query##", "fields": ["title^##boost##", "short_description", "supplier"], "type": "best_fields", "tie_breaker": 0.1
}}}"""
EMBEDDED = (
    """{"query": "#$query##", "fields": {"title": ##boost##, "short_description": 1, "supplier": 1}, "tie": 0.1}"""
)


@pytest.fixture
def products(db: None, data_dir: Path) -> Iterator[Path]:
    """A folder for files, and an admin."""
    shared_data("products")
    make_user("Admin", superuser=True)
    yield data_dir


def command(*words: Any) -> str:
    out = io.StringIO()
    call_command(*map(str, words), stdout=out)
    return out.getvalue()


def _qrels(text: str, exponential: bool) -> Iterator[ir_measures.Qrel]:
    for line in text.splitlines():
        topic, _, doc_id, grade = line.split()
        yield ir_measures.Qrel(topic, doc_id, 2 ** int(grade) - 1 if exponential else int(grade))


def evaluate_and_compare(folder: Path, engine: str, url: str, template: str) -> dict[str, Any]:
    """Creates and evaluates the case by commands. Compares every query's score with ir-measures on the exported files."""
    (folder / "template").write_text(template)
    command("create_endpoint", engine, engine, url)
    command(
        "create_case", "Products", "--endpoint", engine, "--template", folder / "template", "--fields", "id:id title:title supplier",
        "--ratings", DATA / "ratings.csv", "--scale", "0:3", *(word for name in SCORERS for word in ("--scorer", name)),
    )  # fmt: skip
    report: dict[str, Any] = json.loads(command("evaluate", "Products", "--json", "-"))
    command("export_run", "Products:1", "--format", "trec", "--output", folder / "run.trec")
    command("export_ratings", "Products", "--format", "trec", "--output", folder / "qrels.trec")
    run = list(ir_measures.read_trec_run(str(folder / "run.trec")))
    qrels = (folder / "qrels.trec").read_text()
    case = Case.objects.get(name="Products")
    for scorer in report["scorers"]:
        name = scorer["name"]
        expected = {
            row.query_id: row.value
            for row in evaluate_by_ir_measures([ORACLES[name]], list(_qrels(qrels, name == "nDCG@10")), run)
        }
        scores = QueryScore.objects.filter(run__case=case, version__scorer__name=name).values_list("query_id", "score")
        assert len(scores) == 135
        for query_id, score in scores:
            # For ir-measures, a query without a score, or without results, is 0 or missing.
            assert (score or 0) / 100 == pytest.approx(expected.get(str(query_id), 0), abs=1e-9), (name, query_id)
        mean = sum(score or 0 for _, score in scores) / len(scores) / 100
        assert mean == pytest.approx(sum(expected.values()) / 135, abs=1e-9)
        assert {text: row["score"] for text, row in scorer["per_query"].items()} == {
            case.book.queries.get(pk=query_id).text: score for query_id, score in scores
        }
    return report


@pytest.fixture(autouse=True)
def linear_scorer(products: Path) -> None:
    from tests.factories import make_scorer  # noqa: PLC0415

    make_scorer("nDCG(gain='linear')@10", "nDCG linear")


def check(report: dict[str, Any]) -> None:
    """Checks what holds on every engine: all queries were run, 19 have no relevant product, and scores are plausible."""
    assert (report["complete"], report["run"]) == (True, 1)
    by_name = {scorer["name"]: scorer for scorer in report["scorers"]}
    assert list(by_name) == list(SCORERS)
    assert {scorer["queries"] for scorer in by_name.values()} == {135}
    assert by_name["nDCG@10"]["scored"] == by_name["AP@10"]["scored"] == 135 - 19
    assert by_name["Judged@10"]["score"] > 15
    assert by_name["nDCG@10"]["score"] > 15
    without_relevant = {text for text, row in by_name["nDCG@10"]["per_query"].items() if row["total"] == 0}
    assert {"garmin", "netflix", "youtube"} <= without_relevant
    assert not any(row["error"] for row in by_name["nDCG@10"]["per_query"].values())


def test_embedded(products: Path) -> None:
    assert command("load_documents", "embedded", "products", DATA / "products.jsonl").startswith("19,406 documents")
    check(evaluate_and_compare(products, "embedded", "products", EMBEDDED))


def test_solr(products: Path, solr_server: Server) -> None:
    url = make_solr_core(solr_server, "products", [])
    assert command("load_documents", "solr", url, DATA / "products.jsonl").startswith("19,406 documents")
    check(evaluate_and_compare(products, "solr", url, EDISMAX))


def test_elasticsearch(products: Path, elasticsearch_server: Server) -> None:
    url = f"{elasticsearch_server.url}/products"
    urllib3.request("DELETE", url, timeout=60.0)
    assert command("load_documents", "elasticsearch", url, DATA / "products.jsonl").startswith("19,406 documents")
    check(evaluate_and_compare(products, "elasticsearch", url, MULTI_MATCH))
    assert User.objects.count() == 1


def test_opensearch(products: Path, opensearch_server: Server) -> None:
    url = f"{opensearch_server.url}/products"
    urllib3.request("DELETE", url, timeout=60.0)
    assert command("load_documents", "opensearch", url, DATA / "products.jsonl").startswith("19,406 documents")
    check(evaluate_and_compare(products, "opensearch", url, MULTI_MATCH))
