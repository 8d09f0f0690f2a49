"""How the queries of a comparison are filtered and sorted, as the address says."""

import math
from dataclasses import dataclass

from django.http import QueryDict

from relevancy import comparison
from relevancy.views.requests import parse_number
from relevancy.views.tables import read_sort

MAX_PICKED = 500  # queries: more would make the address too long for some servers
DEFAULT_SORT = "difference"  # the largest losses first: they are what has to be looked at


@dataclass(frozen=True)
class ComparedFilter:
    """Filter, order and page of the list.

    text: part of the query's text. tag: the exact spelling of a tag. Both may be empty.
    state: a key of `comparison.STATES`, or empty.
    picked: ids of case queries that were selected in a chart; empty for all queries.
    by_more_than: points that a score must differ by, at least; 0 for any.
    sort: a key of `comparison.SORT_KEYS`, with "-" before it for the highest first.
    page: as the address says it, which may be anything.
    """

    text: str = ""
    tag: str = ""
    state: str = ""
    picked: tuple[int, ...] = ()
    by_more_than: float = 0.0
    sort: str = DEFAULT_SORT
    page: str = "1"

    @classmethod
    def from_parameters(cls, parameters: QueryDict) -> "ComparedFilter":
        """Reads an address; ignores parameters with an unknown value."""
        state = parameters.get("state", "")
        picked = map(parse_number, parameters.get("only", "").split("-")[:MAX_PICKED])
        return cls(
            text=parameters.get("q", "").strip(),
            tag=parameters.get("tag", "").strip(),
            state=state if state in comparison.STATES else "",
            picked=tuple(dict.fromkeys(filter(None, picked))),
            by_more_than=_read_points(parameters.get("min", "")),
            sort=read_sort(parameters.get("sort", ""), comparison.SORT_KEYS, DEFAULT_SORT),
            page=parameters.get("page", "1"),
        )

    @property
    def is_active(self) -> bool:
        """Whether the list leaves queries out."""
        return bool(self.text or self.tag or self.state or self.by_more_than or self.picked)

    def parameters(self) -> dict[str, str]:
        """Returns the parameters of the list without its page; leaves out what is the default."""
        parameters = {
            "q": self.text,
            "tag": self.tag,
            "state": self.state,
            "min": f"{self.by_more_than:g}" if self.by_more_than else "",
            "only": "-".join(map(str, self.picked)),
            "sort": "" if self.sort == DEFAULT_SORT else self.sort,
        }
        return {name: value for name, value in parameters.items() if value}


def _read_points(text: str) -> float:
    try:
        points = float(text.replace(",", ".")[:20])
    except ValueError:
        return 0.0
    return points if math.isfinite(points) and 0 < points <= 100 else 0.0
