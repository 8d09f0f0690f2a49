"""Files as Quepid writes them, with invented content: null where it has no value, positions that use all of a 64-bit integer, and
keys that an import has no use for."""

import io
import json

QUERY = {
    "arranged_at": 9155553124819079001,
    "arranged_next": 9223372036854775807,
    "query_text": "star wars",
    "options": None,
    "notes": "Both trilogies",
    "information_need": "The films",
    "ratings": [
        {"doc_id": "a", "rating": 3.0, "user_email": "ann@example.com"},
        {"doc_id": 7, "rating": "1", "user_email": "ben@example.com"},
        {"doc_id": "c", "rating": None, "user_email": None},
    ],
}
SECOND = {
    "arranged_at": 9155553124819079000,  # the one before, although it is the same as a float
    "arranged_next": 9155553124819079001,
    "query_text": "alien",
    "options": '{"lang": "en"}',
    "notes": None,
    "information_need": None,
    "ratings": [],
}
ENDPOINT = {
    "name": "Shop",
    "endpoint_url": "http://reader:secret@127.0.0.1:1/solr/shop/select",
    "search_engine": "solr",
    "api_method": "JSONP",
    "custom_headers": '{"X-Team": "search"}',
    "basic_auth_credential": None,
    "mapper_code": None,
    "proxy_requests": False,
    "requests_per_minute": 30,
    "test_query": "*:*",
    "options": {"sort": "score"},
}
TRY = {
    "escape_query": True,
    "field_spec": "id:id title:title",
    "name": "Try 4",
    "number_of_rows": 20,
    "query_params": "q=#$query##&qf=title^##boost##\r\n&defType=edismax",
    "curator_variables": [{"name": "boost", "value": 2.5}],
    "search_endpoint": ENDPOINT,
}
CASE = {
    "case_name": "Shop: phones",
    "owned": True,
    "owner_email": "ann@example.com",
    "public": False,
    "archived": False,
    "options": {"country": "de"},
    "scorer": {"name": "nDCG@10"},
    "queries": [QUERY, SECOND],
    "try": TRY,
}
# What an older version exported: the script of the scorer, and the engine in the try.
OLD_TRY = {
    "custom_headers": None,
    "curator_vars": {"boost": 3},
    "escape_query": False,
    "api_method": "POST",
    "field_spec": None,
    "name": None,
    "number_of_rows": 10,
    "query_params": '{"query": {"match": {"title": "#$query##"}}}',
    "search_engine": "es",
    "search_url": "http://127.0.0.1:1/shop/_search",
}
# What its API returns for a snapshot of a case that is searched with Solr.
SNAPSHOT = {
    "id": 2471,
    "name": "Before synonyms",
    "time": "2026-03-02T09:12:44.000Z",
    "has_snapshot_file": False,
    "scorer": None,
    "try": {"try_number": 4, "name": None, "query_params": "q=#$query##"},
    "docs": {
        "31": [
            {
                "id": "a",
                "explain": '{"match":true,"value":3.2,"description":"sum of:"}',
                "rated_only": False,
                "fields": {"id": "a", "title": "Film A", "price": None, "_version_": 1853562411209818112},
            },
            {"id": 1853562411209818113, "explain": None, "rated_only": None, "fields": None},
        ],
        "32": [],
    },
    "queries": [
        {
            **QUERY,
            "query_id": 31,
            "query_text": "query 1",
            "modified_at": "2026-03-01T08:00:00.000Z",
            "ratings": {"a": 3.0},
        },
        {**SECOND, "query_id": 32, "query_text": "query 2", "modified_at": None, "ratings": {}},
    ],
    "scores": [{"query_id": 31, "score": 1.0, "all_rated": False, "number_of_results": 2, "response_status": None}],
}


def as_file(content) -> io.BytesIO:
    return io.BytesIO(content if isinstance(content, bytes) else json.dumps(content).encode())
