"""How far an active run has come, and when its page asks again."""

import math
import time
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict

from relevancy.models import Run
from relevancy.views.requests import parse_number
from relevancy.wording import describe_pace

# Milliseconds: a short run is shown 100, 150, 200, 250, 300, 400 or 600 ms after its start.
FIRST_PAUSES = (100, 50, 50, 50, 50, 100, 200)
ROUNDING = 0.001  # seconds: `at` has milliseconds, so it may be later than the time it was taken at
MIN_OBSERVED_SECONDS = 1.0  # a rate over less time would change with every look


@dataclass(frozen=True)
class RunProgress:
    """What a page knows of an active run. The page sends it along with each poll, so nothing is stored for it.

    polls: how often the page has asked since it started the run; None if it only found the run active.
    done: how many queries had been searched when it last asked; None if it has not asked yet.
    first_done, first_at: how many had been searched when it looked for the first time, and when (seconds since 1970).
    now: the time of this look.
    """

    polls: int | None
    done: int | None
    first_done: int
    first_at: float
    now: float

    @classmethod
    def first_look(cls, run: Run | None, *, has_started_it: bool = False) -> "RunProgress":
        """Returns what a page knows that has not asked yet."""
        now = time.time()
        return cls(0 if has_started_it else None, None, run.done if run else 0, now, now)

    @classmethod
    def from_parameters(cls, parameters: QueryDict, run: Run | None) -> "RunProgress":
        """Reads the parameters of a poll; they are those of `query_string`, or the page has not asked yet."""
        first_look, first_at = cls.first_look(run), _parse_time(parameters.get("at", ""))
        if first_at is None or not -ROUNDING <= first_look.now - first_at < 1e6:
            return first_look
        return cls(
            parse_number(parameters.get("poll", "")) or None,
            parse_number(parameters.get("done", "")),
            min(parse_number(parameters.get("from", "")), first_look.first_done),
            first_at,
            first_look.now,
        )

    @property
    def trigger(self) -> str:
        """When the page asks again, as `hx-trigger`: soon after the start of a run, then each second."""
        if self.polls is None or self.polls >= len(FIRST_PAUSES):
            return "every 1s"
        return f"load delay:{FIRST_PAUSES[self.polls]}ms, every 1s"

    def query_string(self, run: Run) -> str:
        """Returns the parameters of the next poll."""
        parameters = {"at": f"{self.first_at:.3f}", "from": self.first_done, "done": run.done}
        if self.polls is not None:
            parameters["poll"] = self.polls + 1
        return urlencode(parameters)

    def has_changed(self, run: Run) -> bool:
        """Returns whether queries have been searched since the last poll."""
        return self.done != run.done

    def rate_text(self, run: Run) -> str:
        """Returns how many queries are searched per second and how long the rest will take; empty if it is not known yet."""
        seconds, searched = self.now - self.first_at, run.done - self.first_done
        if seconds < MIN_OBSERVED_SECONDS or searched <= 0:
            return ""
        return describe_pace(searched / seconds, max(0, run.queries - run.done))


def _parse_time(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
