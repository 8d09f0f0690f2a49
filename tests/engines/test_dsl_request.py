"""What is sent to Elasticsearch and OpenSearch."""

import json
from typing import Any

import pytest

from relevancy import engines
from relevancy.engines import BadQuery, Request
from relevancy.engines.dsl_answers import checked_item, no_search_templates
from relevancy.engines.dsl_request import Asked, asked_of
from relevancy.engines.highlights import ASKED_CLOSE, ASKED_OPEN

MATCH = {"match": {"title": "#$query##"}}
STAR = {"match": {"title": "star"}}


def asked(body: Any, fields: str = "title overview", **changes: Any) -> Asked:
    template = engines.parse_template(json.dumps(body), "json")
    return asked_of(Request("star", template, engines.parse_fields(fields, "_id"), 5, **changes), "longest")


def test_asked_replaces_depth_and_fields_only() -> None:
    body = {"query": MATCH, "size": 99, "from": 7, "_source": "*", "explain": True, "profile": True, "min_score": 1}
    ours = {"size": 5, "_source": ["title", "overview"], "track_total_hits": True}
    assert asked(body) == Asked({"query": STAR, "min_score": 1, **ours})
    assert asked(body, start=3).body["from"] == 3
    assert asked(body).verb == "_search"


@pytest.mark.parametrize(
    "body",
    [
        {"knn": {"field": "v", "query_vector": [0.5, 1], "k": 10, "num_candidates": 50}},
        {"retriever": {"rrf": {"retrievers": [{"standard": {"query": STAR}}], "rank_window_size": 50}}},
        {"query": STAR, "knn": [{"field": "v", "query_vector": [1]}], "rank": {"rrf": {"window_size": 50}}},
        {"query": {"hybrid": {"queries": [STAR]}}, "search_pipeline": "normalize"},
    ],
)
def test_asked_passes_vectors_and_hybrids_through(body: dict[str, Any]) -> None:
    assert asked(body).body == {**body, "size": 5, "_source": ["title", "overview"], "track_total_hits": True}


def test_asked_search_template_by_name() -> None:
    found = asked(
        {"id": "by_title", "params": {"words": "#$query##", "size": 99, "lang": "en"}, "explain": True}, start=10
    )
    assert found == Asked({"id": "by_title", "params": {"words": "star", "size": 5, "from": 10, "lang": "en"}}, True)
    assert found.verb == "_search/template"


@pytest.mark.parametrize("source", ['{"query": {{q}}}', {"query": {"match": {"title": "{{q}}"}}}])
def test_asked_search_template_by_source(source: Any) -> None:
    assert asked({"source": source}).body == {"source": source, "params": {"from": 0, "size": 5}}


def test_asked_search_template_with_other_params() -> None:
    with pytest.raises(BadQuery, match="params"):
        asked({"id": "x", "params": ["#$query##"]})


def test_asked_highlight() -> None:
    plain = asked({"query": MATCH})
    found = asked({"query": MATCH}, highlight=True)
    highlight = found.body["highlight"]
    assert {**plain.body, "highlight": highlight} == found.body
    assert highlight["fields"] == {"title": {}, "overview": {}}
    assert (highlight["pre_tags"], highlight["post_tags"]) == ([ASKED_OPEN], [ASKED_CLOSE])
    assert highlight["longest"] == 10_000
    assert asked({"query": MATCH}, fields="*", highlight=True).body["highlight"]["fields"] == {"*": {}}


def test_asked_highlight_of_the_template_keeps_its_own_and_gets_our_marks() -> None:
    own = {
        "type": "plain",
        "encoder": "html",
        "tags_schema": "styled",
        "fields": {"title": {"pre_tags": ["<b>"], "order": "score"}},
    }
    found = asked({"query": MATCH, "highlight": own}, highlight=True).body["highlight"]
    marks = {"pre_tags": [ASKED_OPEN], "post_tags": [ASKED_CLOSE], "encoder": "default"}
    assert found == {"type": "plain", "fields": {"title": {"order": "score"}}, **marks}
    assert asked({"query": MATCH, "highlight": own}).body["highlight"] == own


def test_asked_highlight_leaves_out_filters() -> None:
    query = {"bool": {"must": [MATCH], "filter": [{"term": {"lang": "en"}}], "must_not": {"term": {"a": "b"}}}}
    scored = {"function_score": {"query": query, "functions": [{"filter": {"term": {"x": 1}}, "weight": 2}]}}
    found = asked({"query": scored}, highlight=True)
    inner = {"bool": {"must": [STAR]}}
    assert found.body["highlight"]["highlight_query"] == {
        "function_score": {"query": inner, "functions": [{"filter": {"term": {"x": 1}}, "weight": 2}]}
    }
    assert found.body["query"]["function_score"]["query"]["bool"]["filter"] == [{"term": {"lang": "en"}}]
    assert "highlight_query" not in asked({"query": MATCH}, highlight=True).body["highlight"]


@pytest.mark.parametrize("text", ["[1]", '"#$query##"'])
def test_asked_of_what_is_no_object(text: str) -> None:
    request = Request("star", engines.parse_template(text, "json"), engines.parse_fields("title", "_id"), 5)
    with pytest.raises(BadQuery, match="JSON object"):
        asked_of(request, "longest")


def test_no_search_templates_leaves_other_errors_alone() -> None:
    with pytest.raises(engines.EndpointUnreachable, match="no such index"), no_search_templates("OpenSearch"):
        checked_item({"status": 404, "error": {"reason": "no such index [x]"}}, "http://x/y")
    with pytest.raises(BadQuery, match="no handler found"), no_search_templates("OpenSearch", expected=False):
        checked_item({"status": 400, "error": "no handler found for uri [/x]"}, "http://x/y")
    with pytest.raises(BadQuery, match="OpenSearch has no search templates"), no_search_templates("OpenSearch"):
        checked_item({"status": 400, "error": "no handler found for uri [/x]"}, "http://x/y")
    with pytest.raises(BadQuery, match=r"no search template of this name: \[x\]"), no_search_templates("OpenSearch"):
        checked_item({"status": 404, "error": {"reason": "unable to find script [x] in cluster state"}}, "http://x/y")
