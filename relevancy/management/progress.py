"""How far a long command has come: a bar on a terminal, a line every few seconds in a log."""

import time
from collections.abc import Callable

from django.core.management.base import OutputWrapper

from relevancy.wording import describe_pace

WIDTH = 30
BAR_SECONDS, LINE_SECONDS = 0.1, 5.0


class Progress:
    """Writes to stderr how many of all `noun` are done, how many a second, and how long the rest will take.

    A command that takes less than five seconds writes nothing to a log.
    """

    def __init__(self, output: OutputWrapper, noun: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._output = output
        self._noun = noun
        self._clock = clock
        self._is_terminal = output.isatty()
        self._started = self._shown_at = clock()
        self._length = 0  # of the bar on the terminal

    def show(self, done: int, total: int, note: str = "") -> None:
        """Shows the state, unless it was shown just before. note: such as how many have failed."""
        now = self._clock()
        is_end_of_bar = self._is_terminal and done >= total
        if now - self._shown_at < (BAR_SECONDS if self._is_terminal else LINE_SECONDS) and not is_end_of_bar:
            return
        self._shown_at = now
        parts = [f"{done:,} of {total:,} {self._noun}" + (f", {note}" if note else "")]
        if done and now - self._started >= 1 and done < total:
            parts.append(describe_pace(done / (now - self._started), total - done))
        text = " · ".join(parts)
        if self._is_terminal:
            filled = round(WIDTH * done / total) if total else WIDTH
            bar = f"[{'#' * filled:.<{WIDTH}}] {text}"
            self._output.write(f"\r{bar:<{self._length}}", ending="")
            self._length = len(bar)
        else:
            self._output.write(text)

    def close(self) -> None:
        """Ends the line of the bar."""
        if self._length:
            self._output.write("")
            self._length = 0
