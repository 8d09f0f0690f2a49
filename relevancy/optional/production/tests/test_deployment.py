"""Deployable texts: of templates as people write them, and of odd ones."""

import json
from typing import Any

import pytest

from relevancy import engines
from relevancy.models import Case
from relevancy.optional.production.deployment import build_deployment, describe_difference
from relevancy.optional.production.parts import Deployment
from tests.factories import make_attempt, make_case, make_endpoint, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
URLS = {"solr": "http://127.0.0.1:8983/solr/films", "elasticsearch": "http://127.0.0.1:9200/films"}


@pytest.fixture
def case() -> Case:
    return make_case(["star wars"], owner=make_user("Ann"))


def deploy(case: Case, engine: str, template: str, **fields: Any) -> Deployment:
    url = URLS.get(engine, URLS["elasticsearch"])
    endpoint = make_endpoint(case.owner, engine=engine, url=url)
    attempt = make_attempt(case, endpoint, **{"template": template, "fields": "id:id title:title", **fields})
    return build_deployment(attempt)


def params(deployment: Deployment) -> dict[str, Any]:
    (values,) = json.loads(deployment.file)["set"].values()
    assert json.loads(deployment.text) == values
    return {name: value for name, value in values.items() if name not in ("fl", "rows")}


def names(deployment: Deployment) -> dict[str, str | None]:
    return {item.name: item.default for item in deployment.inputs}


def test_solr_keeps_the_query_as_a_parameter_and_fills_in_knobs(case):
    deployment = deploy(
        case, "solr", "q=#$query##\n&defType=edismax\n&qf=title^##boost## overview\n&mm=75%", knobs={"boost": 2.5}
    )
    assert params(deployment) == {
        "defType": "edismax", "qf": "title^2.5 overview", "mm": "75%", "expandMacros": "false",
    }  # fmt: skip
    assert json.loads(deployment.text)["fl"] == "id,title,score"
    assert json.loads(deployment.text)["rows"] == "10"
    assert names(deployment) == {"q": None}
    parts = {part.key: part.text for part in deployment.parts}
    assert list(parts) == ["params", "search", "solrconfig"]
    assert '<str name="qf">title^2.5 overview</str>' in parts["solrconfig"]
    assert "useParams=" in parts["search"] and "'q=star wars'" in parts["search"]
    assert "127.0.0.1" not in "".join(parts.values())


@pytest.mark.parametrize(
    ("template", "expected", "inputs"),
    [
        # several values of one parameter, and what has to be escaped in XML and JSON
        ("q=#$query##&fq=a:1&fq=b:%22x%26y%22", {"fq": ["a:1", 'b:"x&y"']}, {"q": None}),
        # the query of local parameters needs no macro
        ("q={!edismax qf=title}#$query##", {"q": "{!edismax qf=title v=$user_query}"}, {"user_query": None}),
        ("q={!boost b=votes v=$qq}&qq=#$query##", {"q": "{!boost b=votes v=$qq}"}, {"qq": None}),
        # an option that is a whole parameter can be sent instead of its default
        ("q=#$query##&sort=#$qOption.sort|score desc##", {"sort": "score desc"}, {"q": None, "sort": "score desc"}),
        ("q=#$query##&bq=#$query##", {}, {"q": None, "bq": None}),
        # a percent sign that encodes nothing
        ("q=#$query##&mm=2<75%&qf=title%5E2", {"mm": "2<75%", "qf": "title^2"}, {"q": None}),
    ],
)
def test_solr_without_macros(case, template, expected, inputs):
    deployment = deploy(case, "solr", template)
    assert params(deployment) == {**expected, "expandMacros": "false"}
    assert names(deployment) == inputs


@pytest.mark.parametrize(
    ("template", "expected", "inputs"),
    [
        ('q=title:("#$query##")', {"q": 'title:("${user_query}")'}, {"user_query": None}),
        ("q=#$query##&bq=title:#$keyword1##^3", {"bq": "title:${keyword1}^3"}, {"q": None, "keyword1": ""}),
        (
            "q=#$query##&fq=brand:#$qOption.brand|acme##&fq=year:#$qOption.year##",
            {"fq": ["brand:${option_brand}", "year:${option_year}"], "option_brand": "acme"},
            {"q": None, "option_brand": "acme", "option_year": None},
        ),
    ],
)
def test_solr_with_macros_says_what_must_not_be_sent(case, template, expected, inputs):
    case.case_queries.update(options={"year": 1999})
    deployment = deploy(case, "solr", template)
    assert params(deployment) == expected
    assert names(deployment) == inputs
    assert "a text with ${ must not be sent" in deployment.notes[0]
    assert [part.key for part in deployment.parts] == ["params", "search"]


def test_a_json_request_to_solr_becomes_parameters_where_it_can(case):
    deployment = deploy(
        case, "solr", '{"query": "#$query##", "filter": ["a:1", "b:2"], "params": {"defType": "edismax", "tie": ##tie##}}',
        knobs={"tie": 0.1},
    )  # fmt: skip
    assert params(deployment) == {"fq": ["a:1", "b:2"], "defType": "edismax", "tie": "0.1", "expandMacros": "false"}
    assert names(deployment) == {"q": None}


def test_a_json_request_to_solr_with_a_query_of_its_own_is_sent_whole(case):
    template = '{"query": {"edismax": {"query": "#$query##", "qf": "title^##b##"}}}'
    deployment = deploy(case, "solr", template, knobs={"b": 3})
    assert not deployment.is_stored
    assert json.loads(deployment.text)["body"]["query"] == {"edismax": {"query": "#$query##", "qf": "title^3"}}
    assert "Solr cannot store this request" in deployment.notes[0]
    assert names(deployment) == {"#$query##": None}


def test_mustache_in_strings_and_bare(case):
    template = """{"query": {"bool": {
      "must": [{"multi_match": {"query": "#$query##", "fields": ["title^##b##"]}}, {"match": {"title": #$query##}}],
      "should": [{"terms": {"tag": #$keyword##}}, {"term": {"tag": "a #$keyword1## {{x}} {#$keyword2##}"}}],
      "filter": [{"range": {"year": {"gte": #$qOption.year|1990##}}}, {"term": {"brand": "#$qOption.brand|a “{{x##"}},
        {"terms": {"genre": #$qOption.genres##}}]
    }}, "explain": true}"""
    case.case_queries.update(options={"genres": ["a", "b"]})
    deployment = deploy(case, "elasticsearch", template, knobs={"b": 2})
    source = json.loads(deployment.file)["script"]["source"]
    for line in (
        '"query": "{{query_string}}"',
        '"title": "{{query_string}}"',
        '"title^2"',
        '"tag": {{#toJson}}keywords{{/toJson}}',
        '"tag": "a {{keyword1}} {\\u007bx}} \\u007b{{keyword2}}\\u007d"',
        '"brand": "{{brand}}{{^brand}}a “{\\u007bx{{/brand}}"',
        '"gte": {{year}}{{^year}}1990{{/year}}',
        '"genre": {{#toJson}}genres{{/toJson}}',
        '{{#from}}"from": {{from}},{{/from}}',
        '"size": {{size}}{{^size}}10{{/size}}',
    ):
        assert line in source, line
    assert "explain" not in source and "track_total_hits" not in source


def test_an_inline_pipeline_is_stored_apart_and_a_named_one_is_noted(case):
    hybrid = '"query": {"hybrid": {"queries": [{"match": {"title": "#$query##"}}]}}'
    weights = '{"phase_results_processors": [{"normalization-processor": {"combination": {"parameters": {"weights": [##w##]}}}}]}'
    deployment = deploy(case, "opensearch", f'{{{hybrid}, "search_pipeline": {weights}}}', knobs={"w": 0.3})
    parts = {part.key: part.text for part in deployment.parts}
    assert "PUT" in parts["pipeline"] and '"weights": [\n' in parts["pipeline"] and "0.3" in parts["pipeline"]
    assert f'"search_pipeline": "{deployment.name}"' in parts["source"]
    assert "0.3" in deployment.text
    named = deploy(case, "opensearch", f'{{{hybrid}, "search_pipeline": "norm"}}')
    assert "“norm”" in named.notes[0]


@pytest.mark.parametrize(
    ("template", "is_stored", "note"),
    [
        ('{"source": "{{#toJson}}q{{/toJson}}", "params": {"q": "#$query##", "b": ##b##}}', True, None),
        ('{"id": "films", "params": {"q": "#$query##", "b": ##b##}}', False, "“films” is stored in the engine already"),
        ('{"source": {"query": {"match": {"a": "#$query##"}}}, "params": {"b": ##b##}}', False, "it cannot be stored"),
    ],
)
def test_an_attempt_that_calls_a_search_template(case, template, is_stored, note):
    deployment = deploy(case, "opensearch", template, knobs={"b": 3})
    assert deployment.is_stored is is_stored
    request = next(part.text for part in deployment.parts if part.key == "request")
    assert '"b": 3' in request and "#$query##" in request
    assert (note in deployment.notes[0]) if note else not deployment.notes
    assert names(deployment) == {"#$query##": None}


def test_other_engines_get_the_request_with_its_knobs(case):
    template = '{"query": "#$query##", "fields": {"title": ##title_boost##}, "genre": "#$qOption.genre|all##"}'
    deployment = deploy(case, "embedded", template, knobs={"title_boost": 4})
    assert json.loads(deployment.text)["body"] == {
        "query": "#$query##", "fields": {"title": 4}, "genre": "#$qOption.genre|all##",
    }  # fmt: skip
    assert names(deployment) == {"#$query##": None, "#$qOption.genre|all##": "all"}
    assert not deployment.is_stored


def test_the_difference_shows_what_changed(case):
    first = deploy(case, "solr", "q=#$query##&qf=title^##b##", knobs={"b": 1})
    second = deploy(case, "solr", "q=#$query##&qf=title^##b##", knobs={"b": 2})
    lines = describe_difference(second, first, ("attempt 1", "attempt 2")).splitlines()
    assert lines[:2] == ["--- attempt 1", "+++ attempt 2"]
    assert [line for line in lines[2:] if line[0] in "+-"] == ['-  "qf": "title^1",', '+  "qf": "title^2",']
    assert describe_difference(first, first, ("a", "b")) == ""


def test_an_attempt_that_cannot_be_rendered_says_why(case):
    endpoint = make_endpoint(case.owner, engine="solr", url=URLS["solr"])
    attempt = make_attempt(case, endpoint, template="q=#$query##&qf=a^##b##", knobs={"b": 1})
    attempt.knobs = {}
    with pytest.raises(engines.BadQuery, match="knob “b”"):
        build_deployment(attempt)


def test_rankings_made_elsewhere_have_nothing_to_deploy(case):
    endpoint = make_endpoint(case.owner, engine="static", url="runs.txt")
    attempt = make_attempt(case)
    attempt.endpoint = endpoint
    with pytest.raises(engines.UnsupportedByEngine, match="nothing to deploy"):
        build_deployment(attempt)


@pytest.mark.parametrize("engine", ["solr", "elasticsearch", "http"])
def test_no_secret_and_no_address_of_the_endpoint(case, engine):
    endpoint = make_endpoint(
        case.owner,
        engine=engine,
        url=URLS.get(engine, "http://127.0.0.1:9/hidden-address"),
        credentials={"user": "hidden-user", "password": "hidden-password"},
        headers={"X-Key": "hidden-header"},
        options={"hits": "hits", "id": "id"} if engine == "http" else {},
    )
    template = "q=#$query##" if engine != "elasticsearch" else '{"query": {"match": {"title": "#$query##"}}}'
    deployment = build_deployment(make_attempt(case, endpoint, template=template))
    shown = repr(deployment)
    assert "match" in shown or "q" in {item.name for item in deployment.inputs} or "#$query##" in shown
    for secret in ("hidden", "127.0.0.1", endpoint.name):
        assert secret not in shown
