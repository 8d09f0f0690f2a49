"""A script that was stopped for several queries is switched off: it is not run for the others."""

import pytest

from relevancy.sandbox import Limits
from relevancy.sandbox.pool import POOL

from .script_queries import build_query, run

ENDLESS = "while (1);"
LATE = "const end = Date.now() + 400; while (Date.now() < end); setScore(1)"
BOMB = "const all = []; for (;;) all.push(new Array(1000).fill(1.5))"


def limits(stops: int) -> Limits:
    return Limits(seconds_per_query=0.3, seconds_per_batch=60, megabytes=32, stops=stops)


@pytest.mark.parametrize("script", [ENDLESS, LATE, BOMB])
def test_script_is_run_until_it_was_stopped_for_so_many_queries(script: str) -> None:
    harmless = [build_query((1,), text="good")] * 2
    evil = [build_query((1,), text="evil")] * 6
    outcomes = run(
        f"if (query.text === 'good') setScore(40); else {{ {script} }}", [*harmless, *evil], limits=limits(2)
    )
    assert [outcome.score for outcome in outcomes] == [40, 40, *[None] * 6]
    assert [bool(outcome.stopped) for outcome in outcomes] == [False] * 2 + [True] * 6
    assert [outcome.stopped == "off" for outcome in outcomes] == [False] * 4 + [True] * 4
    assert all("switched off" in outcome.error for outcome in outcomes[4:])
    assert not POOL.busy


def test_script_that_may_not_be_stopped_again_is_not_run() -> None:
    children = set(POOL.children)
    outcomes = run("setScore(40)", [build_query((1,))] * 3, limits=limits(0))
    assert [outcome.stopped for outcome in outcomes] == ["off"] * 3
    assert children == POOL.children


def test_queries_for_which_no_time_is_left_count_as_stopped() -> None:
    slow = "const end = Date.now() + 60; while (Date.now() < end); setScore(1)"
    short = Limits(seconds_per_query=0.3, seconds_per_batch=0.3, stops=1000)
    outcomes = run(slow, [build_query((1,))] * 30, limits=short)
    assert outcomes[-1].stopped == "time"
    assert "share" in outcomes[-1].error


def test_errors_of_a_script_do_not_switch_it_off() -> None:
    outcomes = run("throw new Error('no')", [build_query((1,))] * 6, limits=limits(2))
    assert [outcome.stopped for outcome in outcomes] == [""] * 6
