"""What was deployed returns what the attempt returns: the commands of the page are executed as they are, on real engines."""

import json
import shlex
import subprocess
from collections.abc import Mapping
from typing import Any

import pytest

from relevancy import endpoints, engines, runs
from relevancy.formats.documents.sample import read_films
from relevancy.models import Case, Endpoint
from relevancy.optional.production.deployment import build_deployment
from tests.factories import make_attempt, make_case, make_endpoint, make_user
from tests.live.conftest import elasticsearch7_server as elasticsearch7_server  # fixtures
from tests.live.conftest import opensearch_server as opensearch_server
from tests.live.conftest import solr_server as solr_server
from tests.live.indexing import make_elasticsearch_index, make_solr_core

pytestmark = [pytest.mark.live, pytest.mark.django_db]
TEXTS = [
    "star wars",
    'the "dark knight"',
    "love AND (war OR peace)",
    "spider-man: home/away",
    'C:\\temp\\ \\" back',
    "amélie 千と千尋 Ünïcode 😀",
    "it's {{size}} ${q} $q %41 <&> 'x'",
    "title:star^3 OR *",
    "{!lucene}star",
    "a\ttab and, commas,,  blanks",
]
EDISMAX = "q=#$query##\n&defType=edismax\n&qf=title^##boost## overview\n&tie=0.1\n&mm=25%\n&q.op=OR"


@pytest.fixture
def case() -> Case:
    return make_case(TEXTS[:1], owner=make_user("Ann"))


def sh(command: str) -> Any:
    """Executes a command of the page."""
    done = subprocess.run(
        ["bash", "-c", command.replace("curl ", "curl -sS ")], capture_output=True, text=True, check=True
    )
    answer = json.loads(done.stdout)
    assert "error" not in answer, answer
    return answer


def expected(endpoint: Endpoint, attempt: Any, options: Mapping[str, Any]) -> list[list[str] | None]:
    """The ids that the attempt itself returns for each of the texts; None if the engine refuses it."""
    builder = runs.RequestBuilder(runs.snapshot_config(attempt), attempt.depth)
    with endpoints.connect(endpoint) as engine:
        pages = dict(engine.search_many([builder.request(text, options) for text in TEXTS]))
    ids = [
        None if isinstance(pages[number], engines.EngineError) else [hit.id for hit in pages[number].hits]
        for number in range(len(TEXTS))
    ]
    assert sum(map(bool, ids)) >= 4
    return ids


def ids_of_solr(answer: Any) -> list[str]:
    return [document["id"] for document in answer["response"]["docs"]]


@pytest.fixture(scope="session")
def solr_url(solr_server: Any) -> str:
    return make_solr_core(solr_server, "deployed", [*read_films()], {"year": "pint"})


@pytest.mark.parametrize(
    ("template", "options", "escape"),
    [
        (EDISMAX, {}, True),
        (EDISMAX, {}, False),
        ("q={!edismax qf='title overview' q.op=OR}#$query##", {}, True),
        ("q=title:(#$query##) overview:(#$query##)&q.op=OR&defType=lucene", {}, True),
        (EDISMAX + "\n&bq=title:#$keyword1##^5\n&bq=title:war^2", {}, True),
        (EDISMAX + "\n&fq=#$qOption.filter|*:*##", {"filter": "title:star"}, True),
        (EDISMAX + "\n&bq=title:#$qOption.word|war##^7&sort=#$qOption.sort|score desc, id asc##", {"word": "love"}, True),
        ('{"query": "#$query##", "params": {"defType": "edismax", "qf": "title^##boost## overview", "q.op": "OR"}}', {}, True),
    ],
)  # fmt: skip
def test_solr(solr_url, case, template, options, escape):
    endpoint = make_endpoint(case.owner, engine="solr", url=solr_url)
    knobs = {"boost": 2.5} if "##boost##" in template else {}
    attempt = make_attempt(case, endpoint, template=template, knobs=knobs, fields="id:id title:title", escape=escape)
    deployment = build_deployment(attempt)
    parts = {part.key: part.text for part in deployment.parts}
    sh(f"SOLR={solr_url}\n" + parts["params"].partition("\n")[2])
    # A text with a macro must not be sent where the set itself has one, and Lucene's syntax has errors without escapes.
    is_plain = escape and "solrconfig" in parts
    for text, ids in zip(TEXTS, expected(endpoint, attempt, options), strict=True):
        if ids is None or ("${" in text and not is_plain):
            continue
        assert ids_of_solr(sh(f"SOLR={solr_url}\n{deployment.search(text, options)}")) == ids, text


def test_solr_defaults_of_a_handler(solr_server, solr_url, case):
    template = (
        "q=#$query##&defType=edismax&qf=title^##boost## overview&q.op=OR&mm=0<1%"
        "&fq=title:[* TO *]&fq=%7B!frange l=0%7Dsum(year,1)&bq=title:%22war %26 peace%22"
    )
    endpoint = make_endpoint(case.owner, engine="solr", url=solr_url)
    attempt = make_attempt(case, endpoint, template=template, knobs={"boost": 2.5}, fields="id:id title:title")
    (handler,) = [part.text for part in build_deployment(attempt).parts if part.key == "solrconfig"]
    path = solr_server.home / "deployed" / "conf" / "solrconfig.xml"
    path.write_text(path.read_text().replace("</config>", f"{handler}\n</config>"))
    assert sh(f'curl "{solr_server.url}/admin/cores?action=RELOAD&core=deployed"')["responseHeader"]["status"] == 0
    name = build_deployment(attempt).name
    for text, ids in zip(TEXTS, expected(endpoint, attempt, {}), strict=True):
        escaped = runs.RequestBuilder(runs.snapshot_config(attempt), 1).request(text, {}).render()[0][1]
        answer = sh(f"curl {shlex.quote(f'{solr_url}/{name}')} --data-urlencode {shlex.quote(f'q={escaped}')}")
        assert ids_of_solr(answer) == ids, text


@pytest.fixture(scope="session")
def opensearch(opensearch_server: Any) -> tuple[str, str]:
    make_elasticsearch_index(opensearch_server, "deployed", read_films())
    return "opensearch", opensearch_server.url


@pytest.fixture(scope="session")
def elasticsearch(elasticsearch7_server: Any) -> tuple[str, str]:
    make_elasticsearch_index(elasticsearch7_server, "deployed", read_films())
    return "elasticsearch", elasticsearch7_server.url


MULTI_MATCH = """{"query": {"multi_match": {
  "query": "#$query##", "fields": ["title^##boost##", "overview"], "type": "best_fields", "tie_breaker": 0.1
}}}"""
TEMPLATES = [
    (MULTI_MATCH, {}),
    (
        '{"query": {"query_string": {"query": "#$query##", "fields": ["title^##boost##", "overview"], "lenient": true}}}',
        {},
    ),
    (
        """{"query": {"bool": {
          "must": [{"match": {"overview": {"query": #$query##, "minimum_should_match": "#$qOption.mm|10%##"}}}],
          "should": [{"terms": {"title": #$keyword##}}, {"match": {"title": "the #$keyword1## {{x}} {#$keyword2##}"}}],
          "filter": [{"range": {"year": {"gte": #$qOption.year|1950##}}}, {"terms": {"genres.keyword": #$qOption.genres##}}],
          "boost": ##boost##
        }}, "sort": ["_score", "#$qOption.sort|title.keyword##"], "from": 3}""",
        {"genres": ["Drama", "Science fiction", "Crime", "Romance", "Action", "Thriller"], "year": 1960},
    ),
]


@pytest.mark.parametrize("product", ["elasticsearch", "opensearch"])
@pytest.mark.parametrize(("template", "options"), TEMPLATES)
def test_search_templates(request, case, product, template, options):
    key, url = request.getfixturevalue(product)
    case.case_queries.update(options=options)
    endpoint = make_endpoint(case.owner, engine=key, url=f"{url}/deployed")
    attempt = make_attempt(case, endpoint, template=template, knobs={"boost": 2.5}, fields="title:title", depth=7)
    deployment = build_deployment(attempt)
    parts = {part.key: part.text for part in deployment.parts}
    variables = f"SERVER={url}\nINDEX=deployed\n"
    sh(variables + parts["template"].partition("\n")[2])
    ids = expected(endpoint, attempt, options)
    for text, wanted in zip(TEXTS, ids, strict=True):
        if wanted is not None:
            answer = sh(variables + deployment.search(text, options))
            assert [hit["_id"] for hit in answer["hits"]["hits"]] == wanted, text
    page = deployment.search(TEXTS[0], options).replace('"params": {', '"params": {"from": 2, "size": 3,')
    answer = sh(variables + page)
    assert [hit["_id"] for hit in answer["hits"]["hits"]] == ids[0][2:5]


def test_an_option_that_is_not_sent_is_its_default(opensearch, case):
    key, url = opensearch
    template = """{"query": {"bool": {"must": {"match": {"overview": "#$query##"}}, "filter": [
      {"range": {"year": {"gte": #$qOption.year|1990##}}}, {"terms": {"genres.keyword": #$qOption.genres|["Drama"]##}}]}}}"""
    template = template.replace('|["Drama"]##', "##")
    case.options = {"genres": ["Drama", "Crime"]}
    endpoint = make_endpoint(case.owner, engine=key, url=f"{url}/deployed")
    deployment = build_deployment(make_attempt(case, endpoint, template=template))
    parts = {part.key: part.text for part in deployment.parts}
    variables = f"SERVER={url}\nINDEX=deployed\n"
    sh(variables + parts["template"].partition("\n")[2])
    call = '{"id": "%s", "params": {"query_string": "man"%s}}'
    curl = "curl \"$SERVER/$INDEX/_search/template\" -H 'Content-Type: application/json' -d '%s'"
    sent = sh(variables + curl % (call % (deployment.name, ', "year": 1990, "genres": ["Drama", "Crime"]')))
    unsent = sh(variables + curl % (call % (deployment.name, "")))
    assert sent["hits"]["hits"] == unsent["hits"]["hits"] != []


def test_a_pipeline_is_stored_and_used(opensearch, case):
    key, url = opensearch
    # Without processors: those of hybrid queries are in a plugin that this server does not have.
    pipeline = '{"description": "films since ##year##", "request_processors": [], "phase_results_processors": []}'
    template = f'{{"query": {{"match": {{"overview": "#$query##"}}}}, "search_pipeline": {pipeline}}}'
    endpoint = make_endpoint(case.owner, engine=key, url=f"{url}/deployed")
    attempt = make_attempt(case, endpoint, template=template, knobs={"year": 1990}, fields="title:title")
    deployment = build_deployment(attempt)
    variables = f"SERVER={url}\nINDEX=deployed\n"
    for part in deployment.parts:
        if part.key in ("template", "pipeline"):
            sh(variables + part.text.replace("SERVER=http://localhost:9200\n", ""))
    builder = runs.RequestBuilder(runs.snapshot_config(attempt), attempt.depth)
    with endpoints.connect(endpoint) as engine:
        wanted = [hit.id for hit in engine.search(builder.request("man war", {})).hits]
    answer = sh(variables + deployment.search("man war", {}))
    assert [hit["_id"] for hit in answer["hits"]["hits"]] == wanted != []
