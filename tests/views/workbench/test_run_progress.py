"""How far a run has come, and when its page asks again."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.http import QueryDict
from django.utils import timezone

from relevancy.models import Run
from relevancy.views.workbench.run_header import RunHeader
from relevancy.views.workbench.run_progress import RunProgress

RUN = Run(queries=1000, done=412, case_id=1)


def poll(text):
    return RunProgress.from_parameters(QueryDict(text))


def test_page_asks_soon_at_first_then_each_second():
    progress, triggers = RunProgress(polls=0), []
    for _ in range(9):
        triggers.append(progress.trigger)
        progress = poll(progress.query_string(RUN))
    pauses = (100, 50, 50, 50, 50, 100, 200)
    assert triggers == [*(f"load delay:{pause}ms, every 1s" for pause in pauses), "every 1s", "every 1s"]


def test_page_that_found_the_run_active_asks_each_second():
    progress = RunProgress()
    assert progress.trigger == "every 1s"
    assert poll(progress.query_string(RUN)).trigger == "every 1s"


def test_what_has_been_searched_since_the_last_poll():
    progress = poll(RunProgress().query_string(RUN))
    assert not progress.has_changed(RUN)
    assert progress.has_changed(Run(queries=1000, done=413, case_id=1))


@pytest.mark.parametrize(
    ("seconds", "done_before", "done", "queries", "text"),
    [
        (10, 0, 380, 950, "38 a second · 15 s left"),
        (10, 100, 105, 1000, "30 a minute · 30 min left"),
        (4, 0, 8000, 20_000_000, "2,000 a second · 3 h left"),
        (10, 0, 100, 100, "10 a second · 0 s left"),
        (0.4, 0, 50, 100, ""),
        (10, 50, 50, 100, ""),
    ],
)
def test_rate_is_measured_since_the_run_was_started(monkeypatch, seconds, done_before, done, queries, text):
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    started_at = now - timedelta(seconds=seconds)
    run = Run(done_before=done_before, done=done, queries=queries, started_at=started_at, status="running")
    header = RunHeader(None, SimpleNamespace(run=run), RunProgress(), has_queries=True, has_annotations=False)
    assert header.rate_text == text
    run.status = "complete"
    assert header.rate_text == ""


@pytest.mark.parametrize("text", ["", "poll=3", "at=17&from=5"])
def test_parameters_that_no_page_sends_are_a_first_look(text):
    progress = poll(text)
    assert (progress.polls, progress.done) == (None, None)
    assert progress.has_changed(RUN)
