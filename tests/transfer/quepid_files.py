"""Files as Quepid exports them, with invented content."""

import io
import json

QUERY = {
    "arranged_at": 2,
    "arranged_next": 3,
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
SECOND = {**QUERY, "arranged_at": 1, "query_text": "alien", "options": '{"lang": "en"}', "notes": None, "ratings": []}
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


def as_file(content) -> io.BytesIO:
    return io.BytesIO(content if isinstance(content, bytes) else json.dumps(content).encode())
