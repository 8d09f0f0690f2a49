"""Requests to Elasticsearch and OpenSearch."""

import json
from typing import Any

import pytest

from relevancy import engines
from relevancy.engines import BadQuery, Request
from relevancy.engines.elastic.request import ElasticRequest, elastic_request
from relevancy.engines.elastic.results import check_item, explaining_missing_search_templates
from relevancy.engines.fields.snippets import REQUESTED_CLOSE, REQUESTED_OPEN

MATCH = {"match": {"title": "#$query##"}}
STAR = {"match": {"title": "star"}}


def convert(body: Any, fields: str = "title overview", **changes: Any) -> ElasticRequest:
    template = engines.parse_template(json.dumps(body), "json")
    return elastic_request(Request("star", template, engines.parse_fields(fields, "_id"), 5, **changes), "max_offset")


def test_elastic_request_replaces_only_depth_and_fields() -> None:
    body = {"query": MATCH, "size": 99, "from": 7, "_source": "*", "explain": True, "profile": True, "min_score": 1}
    expected = {"size": 5, "_source": ["title", "overview"], "track_total_hits": True}
    assert convert(body) == ElasticRequest({"query": STAR, "min_score": 1, **expected})
    assert convert(body, start=3).body["from"] == 3
    assert convert(body).api == "_search"


@pytest.mark.parametrize(
    "body",
    [
        {"knn": {"field": "v", "query_vector": [0.5, 1], "k": 10, "num_candidates": 50}},
        {"retriever": {"rrf": {"retrievers": [{"standard": {"query": STAR}}], "rank_window_size": 50}}},
        {"query": STAR, "knn": [{"field": "v", "query_vector": [1]}], "rank": {"rrf": {"window_size": 50}}},
        {"query": {"hybrid": {"queries": [STAR]}}, "search_pipeline": "normalize"},
    ],
)
def test_elastic_request_keeps_vector_and_hybrid_queries(body: dict[str, Any]) -> None:
    assert convert(body).body == {**body, "size": 5, "_source": ["title", "overview"], "track_total_hits": True}


def test_elastic_request_search_template_by_name() -> None:
    converted = convert(
        {"id": "by_title", "params": {"words": "#$query##", "size": 99, "lang": "en"}, "explain": True}, start=10
    )
    assert converted == ElasticRequest(
        {"id": "by_title", "params": {"words": "star", "size": 5, "from": 10, "lang": "en"}}, True
    )
    assert converted.api == "_search/template"


@pytest.mark.parametrize("source", ['{"query": {{q}}}', {"query": {"match": {"title": "{{q}}"}}}])
def test_elastic_request_search_template_by_source(source: Any) -> None:
    assert convert({"source": source}).body == {"source": source, "params": {"from": 0, "size": 5}}


def test_elastic_request_search_template_with_invalid_params() -> None:
    with pytest.raises(BadQuery, match="params"):
        convert({"id": "x", "params": ["#$query##"]})


def test_elastic_request_highlight() -> None:
    plain = convert({"query": MATCH})
    converted = convert({"query": MATCH}, highlight=True)
    highlight = converted.body["highlight"]
    assert {**plain.body, "highlight": highlight} == converted.body
    assert highlight["fields"] == {"title": {}, "overview": {}}
    assert (highlight["pre_tags"], highlight["post_tags"]) == ([REQUESTED_OPEN], [REQUESTED_CLOSE])
    assert highlight["max_offset"] == 10_000
    assert convert({"query": MATCH}, fields="*", highlight=True).body["highlight"]["fields"] == {"*": {}}


def test_elastic_request_highlight_of_the_template_is_kept_with_other_marks() -> None:
    template_highlight = {
        "type": "plain",
        "encoder": "html",
        "tags_schema": "styled",
        "fields": {"title": {"pre_tags": ["<b>"], "order": "score"}},
    }
    converted = convert({"query": MATCH, "highlight": template_highlight}, highlight=True).body["highlight"]
    marks = {"pre_tags": [REQUESTED_OPEN], "post_tags": [REQUESTED_CLOSE], "encoder": "default"}
    assert converted == {"type": "plain", "fields": {"title": {"order": "score"}}, **marks}
    assert convert({"query": MATCH, "highlight": template_highlight}).body["highlight"] == template_highlight


def test_elastic_request_highlight_without_filters() -> None:
    query = {"bool": {"must": [MATCH], "filter": [{"term": {"lang": "en"}}], "must_not": {"term": {"a": "b"}}}}
    scored = {"function_score": {"query": query, "functions": [{"filter": {"term": {"x": 1}}, "weight": 2}]}}
    converted = convert({"query": scored}, highlight=True)
    inner = {"bool": {"must": [STAR]}}
    assert converted.body["highlight"]["highlight_query"] == {
        "function_score": {"query": inner, "functions": [{"filter": {"term": {"x": 1}}, "weight": 2}]}
    }
    assert converted.body["query"]["function_score"]["query"]["bool"]["filter"] == [{"term": {"lang": "en"}}]
    assert "highlight_query" not in convert({"query": MATCH}, highlight=True).body["highlight"]


@pytest.mark.parametrize("text", ["[1]", '"#$query##"'])
def test_elastic_request_of_a_template_that_is_not_an_object(text: str) -> None:
    request = Request("star", engines.parse_template(text, "json"), engines.parse_fields("title", "_id"), 5)
    with pytest.raises(BadQuery, match="JSON object"):
        elastic_request(request, "max_offset")


def test_explaining_missing_search_templates_passes_on_other_errors() -> None:
    with (
        pytest.raises(engines.EndpointUnreachable, match="no such index"),
        explaining_missing_search_templates("OpenSearch"),
    ):
        check_item({"status": 404, "error": {"reason": "no such index [x]"}}, "http://x/y")
    with (
        pytest.raises(BadQuery, match="no handler found"),
        explaining_missing_search_templates("OpenSearch", is_template=False),
    ):
        check_item({"status": 400, "error": "no handler found for uri [/x]"}, "http://x/y")
    with (
        pytest.raises(BadQuery, match="OpenSearch does not support search templates"),
        explaining_missing_search_templates("OpenSearch"),
    ):
        check_item({"status": 400, "error": "no handler found for uri [/x]"}, "http://x/y")
    with (
        pytest.raises(BadQuery, match=r"no search template of this name: \[x\]"),
        explaining_missing_search_templates("OpenSearch"),
    ):
        check_item({"status": 404, "error": {"reason": "unable to find script [x] in cluster state"}}, "http://x/y")
