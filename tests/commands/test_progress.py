"""The progress of long commands, on a terminal and in a log."""

import io

from django.core.management.base import OutputWrapper

from relevancy.management.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(out: io.StringIO, moments: list[tuple[float, int, str]], total: int = 1000) -> str:
    """What is written if `done` is shown at these seconds."""
    now = [0.0]
    progress = Progress(OutputWrapper(out), "queries", clock=lambda: now[0])
    for seconds, done, note in moments:
        now[0] = seconds
        progress.show(done, total, note)
    progress.close()
    return out.getvalue()


def test_a_terminal_has_one_line_with_a_bar_rate_and_time_left() -> None:
    text = shown(
        Terminal(), [(0.05, 5, ""), (2.0, 100, ""), (2.01, 101, ""), (10.0, 500, "2 failed"), (10.01, 1000, "")]
    )
    lines = [line.rstrip() for line in text.removesuffix("\n").split("\r")]
    assert lines == [
        "",
        f"[{'###':.<30}] 100 of 1,000 queries · 50 a second · 18 s left",
        f"[{'#' * 15:.<30}] 500 of 1,000 queries, 2 failed · 50 a second · 10 s left",
        f"[{'#' * 30}] 1,000 of 1,000 queries",
    ]
    assert text.endswith("\n")


def test_a_shorter_text_covers_the_one_before() -> None:
    lines = shown(Terminal(), [(10.0, 500, "2 failed"), (20.0, 1000, "")]).removesuffix("\n").split("\r")
    assert len(lines[1]) == len(lines[2])


def test_a_log_has_a_line_every_five_seconds() -> None:
    text = shown(io.StringIO(), [(second, second * 40, "") for second in range(1, 14)])
    assert text.splitlines() == [
        "200 of 1,000 queries · 40 a second · 20 s left",
        "400 of 1,000 queries · 40 a second · 15 s left",
    ]


def test_a_short_command_writes_nothing_to_a_log() -> None:
    assert shown(io.StringIO(), [(0.1, 10, ""), (4.9, 1000, "")]) == ""
