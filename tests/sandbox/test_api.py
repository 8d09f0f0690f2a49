"""Every name that a script can use."""

import re
from pathlib import Path

import pytest

import relevancy.sandbox
from relevancy.sandbox import REFERENCE, ScriptQuery

from .script_queries import build_query, evaluate, run, run_one

GRADES = (3, None, 1)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("docs.map(d => d.title)", '["Title 0","Title 1","Title 2"]'),
        ("docs[0].id", '"d0"'),
        ("bestDocs.map(b => [b.id, b.rating, b.getRating()])", '[["d0",3,3],["x0",2,2],["d2",1,1]]'),
        ("docAt(1)", '{"id":"d1","title":"Title 1"}'),
        ("docAt(3)", "{}"),
        ("[docExistsAt(2), docExistsAt(3)]", "[true,false]"),
        ("[0, 1, 2, 3].map(hasDocRating)", "[true,false,true,false]"),
        ("[docRating(0), docRating(1), docRating(3) === undefined]", "[3,null,true]"),
        ("ratedDocAt(0)", '{"id":"d0","title":"Title 0","rating":3}'),
        ("[ratedDocAt(1), ratedDocAt(3)]", '[{"id":"x0","rating":2},{}]'),
        ("[ratedDocExistsAt(2), ratedDocExistsAt(3)]", "[true,false]"),
        ("topRatings(2)", "[3,2]"),
        ("topRatings()", "[3,2,1]"),
        ("[numReturned(), numFound(), total]", "[3,3,3]"),
        ("[avgRating(10), avgRating(1), baseAvg(3), avgRating()]", "[2,3,2,2]"),
        ("[avgRating100(10), avgRating100(2), baseAvgRounded(3)]", "[66,100,2]"),
        ("[editDistanceFromBest(10), editDistanceFromBest(1)]", "[1,0]"),
        ("[k, max, scale]", "[10,3,[0,1,2,3]]"),
        ("[qOption('cat'), options]", "[null,{}]"),
        ("[query.text, query.queryText, query.ratings.d0, query.ratedDocs.length]", '["shoes","shoes",3,3]'),
    ],
)
def test_api_value(expression: str, expected: str) -> None:
    assert evaluate(expression) == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("eachDoc((d, i) => seen.push(d.id + i), 2)", '["d00","d11"]'),
        ("eachDoc((d, i) => seen.push(d.id))", '["d0","d1","d2"]'),
        ("eachRatedDoc((d, i) => seen.push(d.id + i), 2)", '["d00","x01"]'),
        ("eachDocWithRating(d => seen.push(d.getRating()))", "[3,2,1]"),
        ("eachDocWithRatingEqualTo(2, d => seen.push(d.id))", '["x0"]'),
    ],
)
def test_api_each(call: str, expected: str) -> None:
    assert evaluate(f"(() => {{ const seen = []; {call}; return seen }})()") == expected


def test_default_count_is_the_depth() -> None:
    grades = [3] * 4 + [0] * 4
    assert evaluate("[avgRating(), topRatings().length, k]", grades, depth=4) == "[3,4,4]"
    assert evaluate("(() => { let n = 0; eachDoc(() => n++); return n })()", grades, depth=5) == "5"


def test_best_docs_are_sorted_by_grade_then_id() -> None:
    query = ScriptQuery("q", [{"id": "b"}], [1], {"b": 1, "10": 1, "9": 2, "a": 1, "__proto__": 2})
    (outcome,) = run("setScore(1); console.log(bestDocs.map(b => b.id).join())", [query], console=True)
    assert outcome.console == ("9,__proto__,10,a,b",)


def test_known_can_be_pairs() -> None:
    query = ScriptQuery("q", [{"id": "b"}], [None], [("z", 3)], 77, {"cat": "shoes"})
    (outcome,) = run(
        "console.log(numFound(), total, qOption('cat'), topRatings(1)); setScore(2)", [query], console=True
    )
    assert outcome.console == ("77 77 shoes [3]",)


def test_average_includes_fractions_and_zeros() -> None:
    assert evaluate("[avgRating(), avgRating100()]", (0.5, 0, None)) == "[0.25,8]"
    assert evaluate("[avgRating(), avgRating100()]", (0, 0)) == "[0,0]"
    assert evaluate("[avgRating(), avgRating100()]", (None, None)) == "[null,null]"


@pytest.mark.parametrize(
    ("script", "score"),
    [
        ("setScore(42.5)", 42.5),
        ("setScore(-3)", 0),
        ("setScore(250)", 100),
        ("setScore(10); setScore(20)", 10),
        ("setScore(10); fail()", 10),
        ("fail(); setScore(10)", 0),
        ("pass(); setScore(10)", 100),
        ("assert(1 === 2); setScore(10)", 0),
        ("assert(true); setScore(10)", 10),
        ("assertOrScore(false, 30); setScore(10)", 30),
        ("assertOrScore(true, 30); setScore(10)", 10),
        ("setScore(null)", None),
        ("setScore(undefined)", None),
        ("setScore()", None),
        ("setScore(0 / 0)", None),
    ],
)
def test_first_call_sets_the_score_within_the_range(script: str, score: float | None) -> None:
    outcome = run_one(script)
    assert (outcome.score, outcome.error) == (score, "")


@pytest.mark.parametrize(
    ("script", "score"), [("setScore(0.25)", 25), ("setScore(1.5)", 100), ("pass()", 100), ("fail()", 0)]
)
def test_output_range_of_0_to_1(script: str, score: float) -> None:
    assert run_one(script, output_range="1").score == score


def test_output_range_must_be_valid() -> None:
    with pytest.raises(ValueError, match="output_range must be"):
        run_one("setScore(1)", output_range="10")


@pytest.mark.parametrize(
    ("script", "error", "line"),
    [
        ("setScore(1 / 0)", "setScore got Infinity", None),
        ("setScore(-1 / 0)", "setScore got -Infinity", None),
        ("setScore('7')", 'setScore got the text "7"', None),
        ("setScore(true)", "setScore got true", None),
        ("setScore([1])", "setScore got an array", None),
        ("setScore(10n)", "setScore got a BigInt", None),
        ("setScore(Symbol('x'))", "setScore got a symbol", None),
        ("setScore({ valueOf() { while (1); } })", "setScore got an object", None),
        ("setScore({ toString() { throw 1 }, toJSON() { throw 2 } })", "setScore got an object", None),
        ("1 + 1", "The script ended without calling setScore", None),
        ("new Promise(() => {})", "The script ended without calling setScore", None),
        ("refreshRatedDocs(3).then(() => {\n  gone() })", "Line 2: gone is not defined", 2),
        ("// one\n\nfoo.bar()", "Line 3: foo is not defined", 3),
        ("let a = 1;\neachDoc(function (doc) {\n  doc.brand.name;\n});", "Line 3: Cannot read properties of undefined", 3),
        ("\neachDoc(7)", "Line 2: eachDoc needs a function, not 7", 2),
        ("throw new Error('at scorer-script.js:99:1')", "Line 1: at scorer-script.js:99:1", 1),
        ("throw 'my own words'", 'The script threw the text "my own words"', None),
        ("throw null", "The script threw null", None),
        ("throw { get stack() { throw 1 } }", "The script threw an object", None),
        ("'use strict';\nundeclared = 1", "Line 2: undeclared is not defined", 2),
        ("class Odd extends Error { constructor(m) { super(m); this.name = 'Odd'; this.message = m + '!' } }\n"
         "throw new Odd('hm')", "Line 2: hm!", 2),
    ],
)  # fmt: skip
def test_error_has_a_message_and_a_line(script: str, error: str, line: int | None) -> None:
    outcome = run_one(script)
    assert outcome.score is None
    assert outcome.error.startswith(error)
    assert outcome.line == line


def test_an_error_after_the_score_does_not_change_it() -> None:
    outcome = run_one("setScore(5);\nnope()", console=True)
    assert (outcome.score, outcome.error, outcome.console) == (5, "", ("error: Line 2: nope is not defined",))


@pytest.mark.parametrize(
    "script",
    [
        "const k = 3; let max = 4, docs = [5]; function avgRating() { return 6 } setScore(k + max + docs[0] + avgRating())",
        "k = 3; max = 4; total = 5; scale = 6; setScore(k + max + total + scale)",
        "refreshRatedDocs(5).then(docs => setScore(docs.length * 6))",
        "(async () => { for (let i = 0; i < 20; i++) await null; await refreshRatedDocs(); setScore(18) })()",
        "var o = {}; o.toString = () => '18'; setScore(Number('' + o))",
        "function F() {} F.prototype.constructor = F; F.prototype.toString = () => '18'; setScore(+String(new F()))",
        "function E(m) { this.message = m; this.name = 'E' } E.prototype = Object.create(Error.prototype); "
        "E.prototype.constructor = E; setScore(new E('x').name === 'E' && new E().constructor === E ? 18 : 0)",
        "class A { constructor() { this.valueOf = () => 18 } } class B extends A {} setScore(0 + new B())",
        "leaked = 18; setScore(leaked)",
        "setScore([18].map(x => x).filter(Boolean).reduce((a, b) => a + b, 0)); return",
        "arguments.length; setScore(this === globalThis ? 18 : 0)",
        "setScore(18) // the last line is a comment",
    ],
)
def test_scripts_of_many_styles(script: str) -> None:
    outcome = run_one(script)
    assert (outcome.score, outcome.error) == (18, "")


def test_console_is_kept_if_requested() -> None:
    script = "console.log('a', 1, [2], {b: 3}, null, undefined); console.warn('w'); console.error(new Error('e')); setScore(1)"
    assert run_one(script).console == ()
    expected = ("a 1 [2] {" + '"b":3} null undefined', "warning: w", "error: Error: e")
    assert run_one(script, console=True).console == expected


def test_console_of_values_that_are_not_json() -> None:
    script = "const a = {}; a.a = a; console.log(a, Symbol('s'), 3n, () => 1); console.info(); console.debug(-0); setScore(1)"
    assert run_one(script, console=True).console[0] == "(an object that cannot be displayed) Symbol(s) 3 function "


def test_documents_with_unusual_values() -> None:
    docs = [{"id": "\ud800", "t": "\u2028</script>*/'\"\\", "n": float("nan"), "when": {1, 2}, "__proto__": 1}]
    query = ScriptQuery("\x00 text", docs, [float("nan")], {"\ud800": 2})
    (outcome,) = run(
        "console.log(docs[0].t, docs[0].n, ratedDocAt(0).t === docs[0].t); setScore(3)", [query], console=True
    )
    assert outcome.error == ""
    assert outcome.console == ("\u2028</script>*/'\"\\ null true",)


def test_reference_lists_every_name() -> None:
    source = Path(relevancy.sandbox.__file__).with_name("api.js").read_text()
    match = re.search(r"const NAMES = \[(.*?)\]", source, re.DOTALL)
    assert match
    assert sorted(entry.name for entry in REFERENCE) == sorted(re.findall(r'"(\w+)"', match[1]))
    for entry in REFERENCE:
        assert run_one(f"setScore(typeof {entry.name} === 'function' ? 1 : 2)").score == (
            1 if "(" in entry.signature else 2
        )


def test_score_without_queries_checks_the_script() -> None:
    assert run("setScore(1)", []) == []
    assert run("setScore(1)", [build_query(())])[0].score == 1
