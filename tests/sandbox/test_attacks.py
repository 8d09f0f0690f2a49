"""Harmful scripts: the query that did harm gets an error, the others their scores, and the server is not affected."""

import os
import time
from pathlib import Path

import pytest

from relevancy.sandbox import Limits, scripts
from relevancy.sandbox.errors import ChildEnded
from relevancy.sandbox.pool import POOL

from .script_queries import SHORT, build_query, run, run_one

TIME, MEMORY = "The script ran longer than 0.3 s", "The script used more than"
ENDED = "The script ended the process"

LOOPS = [
    "while (1);",
    "for (;;) { try { for (;;); } catch (e) {} finally { continue } }",
    "(function f() { Promise.resolve().then(f) })()",
    "setScore(1); (function f() { Promise.resolve().then(f) })()",
    "(async () => { for (;;) await null })()",
    "/(a+)+$/.test('a'.repeat(40) + 'b')",
    "[1, 2, 3].sort(() => { for (;;); })",
    "for (let i = 3n;;) i = i * i % (2n ** 100000n)",
    "console.log({ toJSON() { for (;;); } }); setScore(1)",
    "throw { get message() { return 1 }, __proto__: Error.prototype, get stack() { for (;;); } }",
    "throw new Proxy({}, { getPrototypeOf() { for (;;); } })",
    "docs = { get length() { for (;;); } }; Object.defineProperty(bestDocs, 'length', {}); Array.from({ length: 4e9 })",
    "setScore(1); this['Pro' + 'mise'].resolve()['th' + 'en'](function f() { for (;;); })",
    "refreshRatedDocs().then(() => { for (;;); })",
    "setScore(1); refreshRatedDocs().then(() => { throw { __proto__: Error.prototype, get stack() { for (;;); } } })",
    "throw Object.assign(new Error('x'), { stack: ' \\n'.repeat(49000) })",
    "eachDoc(f => { for (;;); }, { valueOf() { return Infinity } })",
]


@pytest.mark.parametrize("loop", LOOPS, ids=range(len(LOOPS)))
def test_endless_loop_costs_only_its_query(loop: str) -> None:
    script = f"if (query.text === 'evil') {{ {loop} }} else setScore(40)"
    outcomes = run(
        script, [build_query((1,)), build_query((1,), text="evil"), build_query((1,))], limits=SHORT, console=True
    )
    assert [outcome.score for outcome in outcomes] == [40, None, 40]
    assert outcomes[1].error.startswith((TIME, MEMORY)), outcomes[1]


@pytest.mark.parametrize(
    "script",
    [
        "function f() { return f() + 1 } f()",
        "(function f(x) { [1].forEach(f); })()",
        "eachDoc(function f() { eachDoc(f) })",
    ],
)
def test_recursion_is_an_error_with_its_line(script: str) -> None:
    outcome = run_one(script)
    assert outcome.error == "Line 1: Maximum call stack size exceeded"


BOMBS = [
    "const all = []; for (;;) all.push(new Array(1000).fill(1.5))",
    "let s = 'x'; for (;;) { s = s + s + all }",
    "const all = []; let s = 'x'.repeat(1000); for (let i = 0;; i++) all.push(s + i)",
    "for (const all = [];;) all.push(Array(3e7).fill(1))",
    "Array(2e8).fill(7)",
    "const m = new Map(); for (let i = 0;; i++) m.set(i, { i })",
    "const all = []; for (let i = 1n;; i = i * i * 3n) all.push(i)",
    "'x'.repeat(2 ** 29 - 30).split('')",
    "const all = []; (async () => { for (;;) { all.push(Array(1e4).fill(2)); await null } })()",
    "const s = '\\u1234'.repeat(2 ** 28); s.replace(/./g, '$&$&$&'); for (const all = [];;) all.push(s.toUpperCase() + all.length)",
]


@pytest.mark.parametrize("bomb", BOMBS, ids=range(len(BOMBS)))
def test_memory_bomb_costs_only_its_query(bomb: str) -> None:
    before = resident(os.getpid())
    script = f"if (query.text === 'evil') {{ {bomb} }} else setScore(40)"
    limits = Limits(seconds_per_query=2, seconds_per_batch=60, megabytes=32)
    outcomes = run(script, [build_query((1,)), build_query((1,), text="evil"), build_query((1,))], limits=limits)
    assert [outcome.score for outcome in outcomes] == [40, None, 40]
    assert outcomes[1].error
    assert resident(os.getpid()) - before < 50


def test_memory_error_says_so() -> None:
    outcome = run_one("const all = []; for (;;) all.push(Array(1000).fill(1.5))", limits=Limits(seconds_per_query=5))
    assert outcome.error == "The script used more than 64 MB of memory for this query and was stopped"


@pytest.mark.parametrize(
    "script",
    [
        "setScore('x'.repeat(2 ** 29 - 30))",
        "console.log('x'.repeat(2 ** 29 - 30)); setScore('y'.repeat(2 ** 29 - 30))",
        "throw 'x'.repeat(2 ** 29 - 30)",
        "throw new Error('x'.repeat(5e8))",
        "const e = new Error('a'); e.stack = 'x'.repeat(5e8); throw e",
        "console.log({ a: 'x'.repeat(5e8) }, ['x'.repeat(5e8)]); setScore('y')",
        "Object.defineProperty(f = function () {}, 'name', { value: 'x'.repeat(5e8) }); console.log(f); setScore({})",
    ],
)
def test_huge_text_is_not_returned(script: str) -> None:
    before = resident(os.getpid())
    outcome = run_one(script, console=True, limits=Limits(seconds_per_query=3))
    assert outcome.score is None
    assert 0 < len(outcome.error) < 1000
    assert sum(map(len, outcome.console)) < 11_000
    assert resident(os.getpid()) - before < 50


@pytest.mark.parametrize("text", ["'\\ud800 \\0 \\x1b[31m \\x9b'", "'a' + '😀'.repeat(400)"])
def test_texts_can_be_printed_and_stored(text: str) -> None:
    """No lone surrogates, which cannot be encoded, no NUL and no control characters for a terminal."""
    outcome = run_one(
        f"console.log({text}); throw new Error({text})", console=True, limits=Limits(console_characters=300)
    )
    for line in (outcome.error, *outcome.console):
        line.encode()
        assert not [character for character in line if ord(character) < 32 or 127 <= ord(character) < 160]
    assert "\N{REPLACEMENT CHARACTER}" in outcome.error
    assert "\N{REPLACEMENT CHARACTER}" in outcome.console[0]


@pytest.mark.parametrize("rows", ["[[1e999,'',null,[],0]]", '[[1,"",1e999,[],0]]', "[" * 100_000, '[[NaN,"",null,[],0]]',
                                  '[[-1,"",1,[],0]]',
                                  '[[101,"",1,[],0]]', "7", "[7]", '[[1,"",1,[],"x"]]', '[[1,"",1,[],0],[1,"",1,[],0]]'])  # fmt: skip
def test_invalid_rows_of_a_child_are_refused(rows: str) -> None:
    batch = scripts._Batch(b"", [build_query((1,))], Limits(), 0.0, scripts._SCORES)
    with pytest.raises(ChildEnded):
        batch._add_outcomes(rows.encode(), 1)
    assert batch.outcomes == []


def test_console_flood_is_cut() -> None:
    script = "for (let i = 0; i < 200000; i++) console.log('line ' + i, 'x'.repeat(i % 50)); setScore(9)"
    outcomes = run(script, [build_query((1,))] * 20, console=True, limits=Limits(console_characters=500))
    assert {outcome.score for outcome in outcomes} == {9}
    for outcome in outcomes:
        assert sum(map(len, outcome.console)) < 600
        assert "the console is full" in outcome.console[-1]
    assert len(run_one("for (;;) console.log('')", console=True, limits=SHORT).error) > 0
    empty = run_one("for (let i = 0; i < 1e5; i++) console.log(); setScore(1)", console=True)
    assert len(empty.console) <= 1001


def test_twenty_of_two_hundred_queries_are_stopped() -> None:
    script = "if (query.text === 'evil') for (;;); setScore(numReturned())"
    texts = ["evil" if number % 10 == 3 else "good" for number in range(200)]
    limits = Limits(seconds_per_query=0.1, seconds_per_batch=60, stops=1000)
    outcomes = run(
        script, [build_query((1,) * (number % 7), text=text) for number, text in enumerate(texts)], limits=limits
    )
    for number, (text, outcome) in enumerate(zip(texts, outcomes, strict=True)):
        if text == "evil":
            assert outcome.error.startswith("The script ran longer than 0.1 s"), (number, outcome)
        else:
            assert outcome.score == number % 7, (number, outcome)


def test_batch_that_uses_up_its_time_keeps_its_scores() -> None:
    script = "if (query.text === 'evil') for (;;); setScore(3)"
    queries = [build_query((1,)), *[build_query((1,), text="evil")] * 50, build_query((1,))]
    started = time.monotonic()
    outcomes = run(script, queries, limits=Limits(seconds_per_query=0.2, seconds_per_batch=1, stops=1000))
    assert time.monotonic() - started < 30
    assert outcomes[0].score == 3
    assert outcomes[1].error.startswith("The script ran longer than 0.2 s")
    assert outcomes[-1].error.startswith("Not scored: the script used up the 1 s")
    assert len(outcomes) == 52


def test_slow_queries_are_not_blamed_for_the_time_of_the_batch() -> None:
    script = "const end = Date.now() + 60; while (Date.now() < end); setScore(5)"
    outcomes = run(script, [build_query((1,))] * 20, limits=Limits(seconds_per_query=1))
    assert {outcome.score for outcome in outcomes} == {5}


def test_many_scripts_do_not_use_up_resources() -> None:
    """The child stays the same and neither process grows. Also tried with 10,000 scripts."""
    run_one("setScore(1)")
    for number in range(100):
        assert run_one(f"leak{number} = Array(1000).fill({number}); setScore({number % 100})").score == number % 100
    files, before, size = descriptors(), [child.pid for child in POOL.children], resident(os.getpid())
    child_size = max(resident(pid) for pid in before)
    for number in range(400):
        assert run_one(f"leak{number} = Array(1000).fill({number}); setScore({number % 100})").score == number % 100
    assert descriptors() == files
    after = [child.pid for child in POOL.children]
    assert len(after) == len(before)
    assert resident(os.getpid()) - size < 20
    assert max(resident(pid) for pid in after) - child_size < 60


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def resident(pid: int) -> float:
    """Resident memory in megabytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
