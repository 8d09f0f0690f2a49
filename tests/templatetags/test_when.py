"""Relative times with the exact time behind them."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from relevancy.templatetags import when

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("back", "text"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(seconds=50), "1 min ago"),
        (timedelta(minutes=4, seconds=59), "4 min ago"),
        (timedelta(minutes=60), "1 h ago"),
        (timedelta(hours=23, minutes=59), "23 h ago"),
        (timedelta(hours=24), "yesterday"),
        (timedelta(hours=35), "yesterday"),
        (timedelta(hours=37), "2 days ago"),
        (timedelta(days=6), "6 days ago"),
        (timedelta(days=7), "1 week ago"),
        (timedelta(days=22), "3 weeks ago"),
        (timedelta(days=31), "1 month ago"),
        (timedelta(days=364), "12 months ago"),
        (timedelta(days=800), "2 years ago"),
        (timedelta(minutes=-10), "in 10 min"),
        (timedelta(hours=-30), "tomorrow"),
        (timedelta(days=-3), "in 3 days"),
    ],
)
def test_in_words(back: timedelta, text: str) -> None:
    with timezone.override(UTC):
        assert when.in_words(NOW - back, NOW) == text


def test_ago_has_the_exact_time_as_title() -> None:
    with timezone.override(UTC):
        html = when.ago(NOW - timedelta(minutes=4), NOW)
    assert html == '<time datetime="2026-11-20T11:56:00+00:00" title="20 Nov 2026, 11:56 UTC">4 min ago</time>'


def test_ago_never() -> None:
    assert "never" in when.ago(None)
    assert "&lt;b&gt;" in when.ago(None, never="<b>")


def test_ago_takes_a_naive_time_as_local() -> None:
    with timezone.override(UTC):
        assert ">1 h ago<" in when.ago(datetime(2026, 11, 20, 11, 0), NOW)  # noqa: DTZ001
