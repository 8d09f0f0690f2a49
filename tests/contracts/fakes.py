"""Minimal Solr, Elasticsearch and OpenSearch for the contract, with responses in the format of the real ones.

`tests/live` runs the same contract against the real ones, which justifies trusting these.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from .local_server import ReceivedRequest, Reply, json_reply
from .subject import DOCS, words

_NOT_FOUND = (
    "<html>\n<head>\n<title>Error 404 Not Found</title>\n</head>\n<body><h2>HTTP ERROR 404 Not Found</h2></body></html>"
)


def ranked(query: str) -> list[tuple[float, Mapping[str, Any]]]:
    """Returns score and document, best first: the fraction of words that query and title have in common."""
    query_words = words(query.replace("\\", ""))
    matches = []
    for doc in DOCS:
        title = words(doc["title"])
        common = {word for word in query_words & title if word.isalnum()}
        if common:
            matches.append((len(common) / len(title), doc))
    return sorted(matches, key=lambda pair: -pair[0])


def highlighted(doc: Mapping[str, Any], query: str, before: str, after: str) -> Iterator[tuple[str, str]]:
    """Yields the text fields that contain words of the query, with these words marked."""
    alternatives = "|".join(re.escape(word) for word in words(query.replace("\\", "")) if word.isalnum())
    for name in ("title", "genres"):
        text = doc[name] if isinstance(doc[name], str) else doc[name][0]
        visible = re.sub(rf"\b({alternatives})\b", rf"{before}\1{after}", text, flags=re.IGNORECASE)
        if visible != text:
            yield name, visible


def _fits(name: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def fake_solr(received: ReceivedRequest) -> Reply:
    """Serves `/solr/films`: select by edismax, the terms and term parsers, explain, Luke, system information."""
    path = urlsplit(received.path).path
    core, _, handler = path.removeprefix("/solr/").partition("/")
    if core != "films":
        return Reply(_NOT_FOUND.encode(), 404, {"content-type": "text/html;charset=iso-8859-1"})
    if handler == "admin/system":
        return json_reply({"responseHeader": {"status": 0}, "lucene": {"solr-spec-version": "9.10.1"}})
    if handler == "admin/luke":
        return json_reply(
            {"fields": {name: {"type": "string"} for name in ("id", "title", "year", "genres", "_version_")}}
        )
    return _solr_select(dict(parse_qsl(received.body.decode(), keep_blank_values=True)))


def _solr_select(params: Mapping[str, str]) -> Reply:
    if params.get("defType") == "nosuchparser":
        message = f"invalid query parser 'nosuchparser' for query '{params['q']}'"
        return json_reply({"responseHeader": {"status": 400}, "error": {"msg": message, "code": 400}}, 400)
    ids = params.get("doc_ids", "").split("\x1f")
    matches = ranked(params.get("q", ""))
    if params.get("q", "").startswith("{!terms "):
        matches = [(1.0, doc) for doc in DOCS if doc["id"] in ids]
    if params.get("fq", "").startswith("{!terms "):
        matches = [(score, doc) for score, doc in matches if doc["id"] in ids]
    elif "fq" in params:
        matches = [(score, doc) for score, doc in matches if doc["id"] == params["fq"].partition("}")[2]]
    start, rows = int(params.get("start", 0)), int(params.get("rows", 10))
    names = params["fl"].split(",") if "fl" in params else ["*"]
    docs = [_solr_doc(doc, score, names) | _clause_scores(doc, params) for score, doc in matches[start : start + rows]]
    response: dict[str, Any] = {
        "responseHeader": {"status": 0, "QTime": 0},
        "response": {"numFound": len(matches), "start": start, "numFoundExact": True, "docs": docs},
    }
    if params.get("hl") == "true":
        tags = params["hl.tag.pre"], params["hl.tag.post"]
        patterns = params["hl.fl"].split()
        response["highlighting"] = {
            doc["id"]: {name: [text] for name, text in highlighted(doc, params["q"], *tags) if _fits(name, patterns)}
            for _, doc in matches[start : start + rows]
        }
    if "debug" in params:
        response["debug"] = {
            "parsedquery_toString": f"title:{params['q']}",
            "QParser": "ExtendedDismaxQParser",
            "timing": {"time": 3.0, "process": {"time": 2.0, "query": {"time": 2.0}, "facet": {"time": 0.0}}},
            "explain": {doc["id"]: {"match": True, **_tree(score, params)} for score, doc in matches},
        }
        other = params.get("explainOther", "").partition("}")[2]
        if any(doc["id"] == other for doc in DOCS):
            tree = {"match": False, "value": 0.0, "description": "No matching clause", "details": []}
            response["debug"] |= {"explainOther": {other: tree}}
    return json_reply(response)


def _solr_doc(doc: Mapping[str, Any], score: float, names: list[str]) -> dict[str, Any]:
    visible = {name: value for name, value in doc.items() if name in names or "*" in names}
    return {**visible, "score": score} if "score" in names else visible


def _clause_scores(doc: Mapping[str, Any], params: Mapping[str, str]) -> dict[str, float]:
    """The pseudo-fields of a document: the score of each clause, or the default of one that does not match."""
    scores = {}
    for name in re.findall(r"(clause_\d+):query", params.get("fl", "")):
        found = [score for score, match in ranked(params[name].partition("}")[2]) if match is doc]
        scores[name] = found[0] if found else -1e30
    return scores


def _tree(score: float, params: Mapping[str, str]) -> dict[str, Any]:
    leaf = {
        "match": True,
        "value": score,
        "description": f"weight(title:{params['q'].split()[-1]} in 0)",
        "details": [],
    }
    return {"value": score, "description": "sum of:", "details": [leaf]}


def fake_elasticsearch(received: ReceivedRequest) -> Reply:
    """Serves `/films`: match, ids and bool/terms queries, `_msearch`, explain, `_field_caps`."""
    path = urlsplit(received.path).path
    if path == "/":
        return json_reply({"version": {"number": "9.4.3"}})
    index, _, api = path.removeprefix("/").partition("/")
    if index != "films":
        error = {"type": "index_not_found_exception", "reason": f"no such index [{index}]"}
        return json_reply({"error": {"root_cause": [error], **error}, "status": 404}, 404)
    if api == "_field_caps":
        types = {"title": "text", "year": "long", "genres": "text", "genres.keyword": "keyword", "id": "text"}
        caps = {name: {field_type: {"type": field_type, "metadata_field": False}} for name, field_type in types.items()}
        return json_reply(
            {"indices": ["films"], "fields": {**caps, "_id": {"_id": {"type": "_id", "metadata_field": True}}}}
        )
    if api == "_msearch":
        bodies = [json.loads(line) for line in received.body.split(b"\n") if line][1::2]
        rejected = next((body for body in bodies if _is_rejected(body)), None)
        return (
            _unknown_query() if rejected else json_reply({"took": 1, "responses": [_search(body) for body in bodies]})
        )
    body = json.loads(received.body)
    if api.startswith("_explain/"):
        return json_reply({"matched": False, "explanation": {"value": 0.0, "description": "no match", "details": []}})
    if api == "_validate/query":
        return json_reply(
            {"valid": True, "explanations": [{"index": "films", "explanation": json.dumps(body["query"])}]}
        )
    return _unknown_query() if _is_rejected(body) else json_reply(_search(body))


def fake_opensearch(received: ReceivedRequest) -> Reply:
    """As `fake_elasticsearch`, but with its own name and without the header that identifies Elasticsearch."""
    reply = fake_elasticsearch(received)
    if urlsplit(received.path).path == "/":
        reply = json_reply({"version": {"distribution": "opensearch", "number": "3.8.0"}})
    return as_opensearch(reply)


def as_opensearch(reply: Reply) -> Reply:
    """A response without Elasticsearch's header."""
    return replace(reply, headers={k: v for k, v in reply.headers.items() if k != "x-elastic-product"})


def _is_rejected(body: Mapping[str, Any]) -> bool:
    return "nosuchquery" in body.get("query", {})


def _unknown_query() -> Reply:
    error = {"type": "parsing_exception", "reason": "unknown query [nosuchquery]", "line": 1, "col": 25}
    return json_reply({"error": {"root_cause": [error], **error}, "status": 400}, 400)


def _search(body: Mapping[str, Any]) -> dict[str, Any]:
    query = body.get("query", {"match_all": {}})
    if "match" in query:
        matches = ranked(query["match"]["title"])
    elif "query_string" in query:
        matches = ranked(query["query_string"]["query"])
    elif "bool" in query:
        wanted = query["bool"]["filter"][0]["ids"]["values"]
        matches = [(1.0, doc) for doc in DOCS if doc["id"] in wanted]
    else:
        matches = [(1.0, doc) for doc in DOCS if "match_all" in query or doc["id"] in query["ids"]["values"]]
    total = len(matches)
    if "post_filter" in body:
        matches = [(score, doc) for score, doc in matches if doc["id"] in body["post_filter"]["ids"]["values"]]
    visible = matches[body.get("from", 0) :][: body.get("size", 10)]
    return {
        "took": 1,
        "timed_out": False,
        "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": {
            "total": {"value": total, "relation": "eq"},
            "hits": [_raw(doc, score, body) for score, doc in visible],
        },
        "status": 200,
        **({"profile": _PROFILE} if body.get("profile") else {}),
    }


_PROFILE = {
    "shards": [
        {
            "searches": [
                {
                    "rewrite_time": 1_000_000,
                    "query": [{"type": "TermQuery", "description": "title:star", "time_in_nanos": 2_000_000}],
                    "collector": [
                        {"name": "TopScoreDocCollector", "reason": "search_top_hits", "time_in_nanos": 500_000}
                    ],
                }
            ]
        }
    ]
}


def _raw(doc: Mapping[str, Any], score: float, body: Mapping[str, Any]) -> dict[str, Any]:
    wanted = body.get("_source", True)
    raw: dict[str, Any] = {"_index": "films", "_id": doc["id"], "_score": score}
    if "bool" in body.get("query", {}):
        named = {clause["bool"]["_name"]: clause["bool"]["must"][0] for clause in body["query"]["bool"]["should"]}
        found = {
            name: [s for s, match in ranked(query["match"]["title"]) if match is doc] for name, query in named.items()
        }
        raw |= {"matched_queries": matched} if (matched := {n: s[0] for n, s in found.items() if s}) else {}
    if wanted:
        raw["_source"] = {name: value for name, value in doc.items() if wanted is True or name in wanted}
    if "highlight" in body:
        highlight = body["highlight"]
        marks = highlighted(doc, body["query"]["match"]["title"], highlight["pre_tags"][0], highlight["post_tags"][0])
        raw["highlight"] = {name: [text] for name, text in marks if _fits(name, list(highlight["fields"]))}
    if body.get("explain"):
        word = body["query"]["match"]["title"].split()[-1]
        leaf = {"value": score, "description": f"weight(title:{word} in 0) [PerFieldSimilarity]", "details": []}
        raw["_explanation"] = {"value": score, "description": "sum of:", "details": [leaf]}
    return raw
