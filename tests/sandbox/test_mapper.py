"""Mapper scripts, as Quepid's Search API endpoints have them: `docsMapper` and `numberOfResultsMapper`."""

import json

import pytest

from relevancy.sandbox import Limits, ScriptError, map_response
from relevancy.sandbox.errors import ChildEnded
from relevancy.sandbox.messages import decode_mapped
from relevancy.sandbox.pool import POOL

from .script_queries import run_one

RESPONSE = json.dumps({"total": 40, "results": [{"sku": 7, "name": "Alien"}, {"sku": 8, "name": "Ü \U0001f680"}]})
DOCUMENTS = ({"id": 7, "title": "Alien"}, {"id": 8, "title": "Ü \U0001f680"})
RETURN = "return data.results.map(r => ({id: r.sku, title: r.name}))"


@pytest.mark.parametrize(
    "script",
    [
        f"numberOfResultsMapper = function (data) {{ return data.total }}; docsMapper = function (data) {{ {RETURN} }}",
        f"function numberOfResultsMapper(data) {{ return data.total }}\nfunction docsMapper(data) {{ {RETURN} }} // end",
        f"'use strict'; const numberOfResultsMapper = data => data.total; let docsMapper = data => {{ {RETURN} }};",
    ],
)
def test_functions_may_be_defined_in_any_way(script: str) -> None:
    mapped = map_response(script, RESPONSE)
    assert mapped.error == ""
    assert mapped.documents == DOCUMENTS
    assert mapped.total == 40


def test_text_that_is_not_json_and_no_total() -> None:
    script = "docsMapper = data => data.match(/<b>(.*?)<.b>/g).map((b, i) => ({id: 'b' + i, title: b.slice(3, -4)}))"
    mapped = map_response(script, "<p><b>One</b> and <b>Two</b></p>")
    assert mapped.documents == ({"id": "b0", "title": "One"}, {"id": "b1", "title": "Two"})
    assert mapped.total is None


@pytest.mark.parametrize(
    ("script", "error", "line"),
    [
        ("numberOfResultsMapper = d => 1", "The script does not define the function docsMapper", None),
        ("docsMapper = 7", "The script does not define the function docsMapper", None),
        (
            "docsMapper = d =>\n  d.nothing.map(x => x)",
            "Line 2: Cannot read properties of undefined (reading 'map')",
            2,
        ),
        ("docsMapper = d => d", "docsMapper returned an object, not an array", None),
        ("docsMapper = async d => []", "docsMapper returned an object, not an array", None),
        ("docsMapper = d => []; numberOfResultsMapper = d => 'many'", 'returned the text "many", not a number', None),
        ("docsMapper = d => []; numberOfResultsMapper = 7", "numberOfResultsMapper is not a function", None),
        ("docsMapper = d => [{id: 'x'.repeat(5e6)}]", "5000038 characters; at most 4000000", None),
        ("\nthrow new Error('broken')", "Line 2: broken", 2),
        ("docsMapper = d => [{id: 1n}]", "BigInt", None),
    ],
)
def test_errors(script: str, error: str, line: int | None) -> None:
    mapped = map_response(script, RESPONSE)
    assert error in mapped.error
    assert mapped.line == line
    assert mapped.documents == ()


def test_console() -> None:
    script = "console.log('found', 2); docsMapper = d => { console.warn(d.total); return [] }"
    assert map_response(script, RESPONSE, console=True).console == ("found 2", "warning: 40")
    assert map_response(script, RESPONSE).console == ()


def test_syntax_error_has_its_line() -> None:
    with pytest.raises(ScriptError) as caught:
        map_response("docsMapper = function (data) {\n  return [;\n}", RESPONSE)
    assert caught.value.line == 2


def test_limits() -> None:
    limits = Limits(seconds_per_query=0.2)
    mapped = map_response("docsMapper = d => { while (true); }", RESPONSE, limits=limits)
    assert mapped.stopped == "time"
    assert "longer than 0.2 s" in mapped.error
    mapped = map_response(
        "docsMapper = d => { const a = []; while (true) a.push('x'.repeat(1e5) + a.length) }", RESPONSE
    )
    assert mapped.stopped in ("memory", "time")
    assert mapped.documents == ()
    assert map_response("docsMapper = d => []", RESPONSE).error == ""


@pytest.mark.parametrize(
    "rows",
    ["7", "[[7,'',null,[],0]]", '[["{}","",null,[],0]]', '[["[]","",null,[],0]]', '[["{\\"documents\\":7}","",null,[],0]]',
     '[["{\\"documents\\":[],\\"total\\":\\"x\\"}","",null,[],0]]', '[[' + '"' + "[" * 9999 + '","",null,[],0]]'],
)  # fmt: skip
def test_invalid_rows_of_a_child_are_refused(rows: str) -> None:
    with pytest.raises(ChildEnded):
        decode_mapped(rows.encode(), Limits())


def test_documents_are_limited_and_plain() -> None:
    mapped = map_response(
        "docsMapper = d => Array.from({length: 2000}, (_, i) => ({id: i, f: () => 1, u: undefined}))", "{}"
    )
    assert len(mapped.documents) == 1000
    assert mapped.documents[1] == {"id": 1}
    mapped = map_response("docsMapper = d => [{id: 'a\\u0000b\\ud800'}]; numberOfResultsMapper = d => NaN", "{}")
    assert mapped.documents == ({"id": "a\ufffdb\ufffd"},)
    assert mapped.total is None


def test_many_responses_need_one_process_and_remember_nothing() -> None:
    POOL.close()
    script = (
        "if (typeof count === 'undefined') count = 0; count += 1;"
        "docsMapper = d => { d.results = 0; return [{id: count + typeof leaked}] }; leaked = 1;"
    )
    pids = set()
    for _ in range(20):
        assert map_response(script, RESPONSE).documents == ({"id": "1number"},)
        pids |= {child.pid for child in POOL.idle}
    assert len(pids) == 1


def test_a_scorer_and_another_mapper_use_the_child_of_a_mapper() -> None:
    first, second = "docsMapper = d => [{id: 1}]", "docsMapper = d => [{id: 2}]"
    for _ in range(2):
        assert map_response(first, "{}").documents == ({"id": 1},)
        assert run_one("setScore(docs.length)").score == 3
        assert map_response(second, "{}").documents == ({"id": 2},)
        assert map_response(first, "{}").documents == ({"id": 1},)
    with pytest.raises(ScriptError):
        map_response("docsMapper = (", "{}")
    assert map_response(first, "{}").documents == ({"id": 1},)
