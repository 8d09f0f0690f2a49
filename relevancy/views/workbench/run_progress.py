"""How far an active run has come, and when its page asks again."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict

from relevancy.models import Run
from relevancy.views.requests import parse_number

# Milliseconds: a short run is shown 100, 150, 200, 250, 300, 400 or 600 ms after its start.
FIRST_PAUSES = (100, 50, 50, 50, 50, 100, 200)


@dataclass(frozen=True)
class RunProgress:
    """What a page knows of an active run. The page sends it along with each poll, so nothing is stored for it.

    polls: how often the page has asked since it started the run; None if it only found the run active.
    done: how many queries had been searched when it last asked; None if it has not asked yet.
    """

    polls: int | None = None
    done: int | None = None

    @classmethod
    def from_parameters(cls, parameters: QueryDict) -> "RunProgress":
        """Reads the parameters of a poll; they are those of `query_string`, or the page has not asked yet."""
        if "done" not in parameters:
            return cls()
        return cls(parse_number(parameters.get("poll", "")) or None, parse_number(parameters.get("done", "")))

    @property
    def trigger(self) -> str:
        """When the page asks again, as `hx-trigger`: soon after the start of a run, then each second."""
        if self.polls is None or self.polls >= len(FIRST_PAUSES):
            return "every 1s"
        return f"load delay:{FIRST_PAUSES[self.polls]}ms, every 1s"

    def query_string(self, run: Run) -> str:
        """Returns the parameters of the next poll."""
        parameters = {"done": run.done}
        if self.polls is not None:
            parameters["poll"] = self.polls + 1
        return urlencode(parameters)

    def has_changed(self, run: Run) -> bool:
        """Returns whether queries have been searched since the last poll."""
        return self.done != run.done
