"""How the queries of a comparison are filtered and sorted, as the address says."""

import math
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict

from relevancy import comparison
from relevancy.views.requests import parse_number

MAX_PICKED = 500  # queries: more would make the address too long for some servers


@dataclass(frozen=True)
class ComparedFilter:
    """Filter, order and page of the list.

    text: part of the query's text. tag: the exact spelling of a tag. Both may be empty.
    state: a key of `comparison.STATES`, or empty.
    picked: ids of case queries that were selected in a chart; empty for all queries.
    by_more_than: points that a score must differ by, at least; 0 for any.
    sort: a key of `comparison.SORT_KEYS`.
    page: as the address says it, which may be anything.
    """

    text: str = ""
    tag: str = ""
    state: str = ""
    picked: tuple[int, ...] = ()
    by_more_than: float = 0.0
    sort: str = "difference"
    descending: bool = True
    page: str = "1"

    @classmethod
    def from_parameters(cls, parameters: QueryDict) -> "ComparedFilter":
        """Reads an address; ignores parameters with an unknown value."""
        sort, state = parameters.get("sort", ""), parameters.get("state", "")
        return cls(
            text=parameters.get("q", "").strip(),
            tag=parameters.get("tag", "").strip(),
            state=state if state in comparison.STATES else "",
            picked=_read_ids(parameters.get("only", "")),
            by_more_than=_read_points(parameters.get("min", "")),
            sort=sort if sort in comparison.SORT_KEYS else "difference",
            descending=parameters.get("up") != "1",
            page=parameters.get("page", "1"),
        )

    @property
    def is_active(self) -> bool:
        """Whether the list leaves queries out."""
        return bool(self.text or self.tag or self.state or self.by_more_than or self.picked)

    @property
    def points_text(self) -> str:
        """The points of `by_more_than` as the form shows them."""
        return f"{self.by_more_than:g}" if self.by_more_than else ""

    @property
    def picked_text(self) -> str:
        """The ids of `picked` as addresses have them: `12-13-19`."""
        return "-".join(map(str, self.picked))

    def query_string(self, **changes: object) -> str:
        """Returns the parameters of the list with some changed; leaves out what is the default."""
        parameters: dict[str, object] = {
            "q": self.text,
            "tag": self.tag,
            "state": self.state,
            "min": self.points_text,
            "only": self.picked_text,
            "sort": "" if self.sort == "difference" else self.sort,
            "up": "" if self.descending else "1",
            **changes,
        }
        return urlencode({name: value for name, value in parameters.items() if value})


def _read_ids(text: str) -> tuple[int, ...]:
    """Returns the first `MAX_PICKED` ids; ignores what is none."""
    ids = (parse_number(part) for part in text.split("-")[:MAX_PICKED])
    return tuple(dict.fromkeys(number for number in ids if number))


def _read_points(text: str) -> float:
    try:
        points = float(text.replace(",", ".")[:20])
    except ValueError:
        return 0.0
    return points if math.isfinite(points) and 0 < points <= 100 else 0.0
