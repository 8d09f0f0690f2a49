"""How far a run has come, and when its page asks again."""

import pytest
from django.http import QueryDict

from relevancy.models import Run
from relevancy.views.workbench.run_progress import RunProgress

RUN = Run(queries=1000, done=412, case_id=1)


def poll(text, run=RUN):
    return RunProgress.from_parameters(QueryDict(text), run)


def test_page_asks_soon_at_first_then_each_second():
    progress, triggers = RunProgress.first_look(RUN, has_started_it=True), []
    for _ in range(9):
        triggers.append(progress.trigger)
        progress = poll(progress.query_string(RUN))
    pauses = (100, 50, 50, 50, 50, 100, 200)
    assert triggers == [*(f"load delay:{pause}ms, every 1s" for pause in pauses), "every 1s", "every 1s"]


def test_time_that_was_rounded_up_is_known_at_once(monkeypatch):
    """The first poll may arrive within the half millisecond that `at` was rounded up by."""
    monkeypatch.setattr("relevancy.views.workbench.run_progress.time.time", lambda: 1000.0006)
    progress = RunProgress.first_look(RUN, has_started_it=True)
    assert "at=1000.001" in progress.query_string(RUN)
    assert poll(progress.query_string(RUN)).trigger == "load delay:50ms, every 1s"


def test_page_that_found_the_run_active_asks_each_second():
    progress = RunProgress.first_look(RUN)
    assert progress.trigger == "every 1s"
    assert poll(progress.query_string(RUN)).trigger == "every 1s"


@pytest.mark.parametrize(
    ("seconds", "first_done", "done", "queries", "text"),
    [
        (10, 0, 380, 950, "38 a second · 15 s left"),
        (10, 100, 105, 1000, "30 a minute · 30 min left"),
        (4, 0, 8000, 20_000_000, "2,000 a second · 3 h left"),
        (10, 0, 100, 100, "10 a second · 0 s left"),
        (0.4, 0, 50, 100, ""),
        (10, 50, 50, 100, ""),
    ],
)
def test_rate_is_measured_since_the_first_look(seconds, first_done, done, queries, text):
    progress = RunProgress(polls=None, done=0, first_done=first_done, first_at=0, now=seconds)
    assert progress.rate_text(Run(done=done, queries=queries)) == text


@pytest.mark.parametrize(
    "text", ["", "at=", "at=x", "at=nan", "at=inf", "at=-1e300&from=5", "at=99999999999", "done=-1&poll=x"]
)
def test_parameters_that_no_page_sends_are_a_first_look(text):
    progress = poll(text)
    assert (progress.polls, progress.done, progress.first_done) == (None, None, 412)
    assert progress.rate_text(RUN) == ""
    assert progress.has_changed(RUN)
