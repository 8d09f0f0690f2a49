"""How the list of queries is looked at: what the address of the workbench says."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Q

from relevancy.models import Run

SORTS = {
    "place": ("position", "id"),
    "score": ("score", "position"),
    "query": ("query__text",),
    "difference": ("difference", "position"),
    "gap": ("gap", "position"),
    "hits": ("hits", "position"),
    "unrated": ("unrated", "position"),
    "ms": ("took_ms", "position"),
}
STATES = {
    "unrated": ("Only unrated", Q(unrated__gt=0)),
    "failed": ("Failed", ~Q(error_kind="") & Q(error_kind__isnull=False)),
    "script": ("Script failed", ~Q(score_error="") & Q(score_error__isnull=False)),
    "empty": ("No results", Q(returned=0, error_kind="")),
    "unscored": ("Without a score", Q(score=None)),
}


def number(word: str) -> int:
    """A whole number out of an address, 0 for anything else."""
    return int(word) if word.isdecimal() and len(word) < 10 else 0


@dataclass
class Listing:
    """How the list of queries is looked at, from the address."""

    text: str = ""
    state: str = ""
    tag: str = ""
    sort: str = "place"
    down: bool = False
    page: str = "1"
    run: int = 0

    @classmethod
    def read(cls, data: Any) -> "Listing":
        """Anything unknown in the address counts as not said."""
        sort = data.get("sort", "place")
        state = data.get("state", "")
        return cls(
            text=data.get("q", "").replace("\0", "").strip(),
            state=state if state in STATES else "",
            tag=data.get("tag", "").replace("\0", "").strip(),
            sort=sort if sort in SORTS else "place",
            down=data.get("down") == "1",
            page=data.get("page", "1"),
            run=number(data.get("run", "")),
        )

    @property
    def filtered(self) -> bool:
        """Whether the list leaves queries out."""
        return bool(self.text or self.state or self.tag)

    @property
    def by_hand(self) -> bool:
        """Whether the list is in the order that can be changed by hand: whole, and from first to last."""
        return self.sort == "place" and not self.down and not self.filtered

    def address(self, **other: Any) -> str:
        """The address's query string with something changed, without what is as usual."""
        said = {
            "q": self.text,
            "state": self.state,
            "tag": self.tag,
            "sort": self.sort,
            "down": "1" if self.down else "",
            "run": self.run,
            **other,
        }
        if said.get("sort") == "place" and not said.get("down"):
            said.pop("sort")
        return urlencode({name: value for name, value in said.items() if value})

    def columns(self, before: Run | None) -> list[dict[str, Any]]:
        """The heads of the list: label, address that sorts by it, and how it is sorted now."""
        change = f"vs run {before.number}" if before else "Change"
        labels = ("#", "Score", "Query", change, "Gap", "Hits", "Unrated", "ms")
        found = []
        for key, label in zip(SORTS, labels, strict=True):
            here = key == self.sort
            # The first press of a column shows its most telling end: what scores worst, what has most unrated.
            first_down = key in {"gap", "hits", "unrated", "ms"}
            down = (not self.down) if here else first_down
            found.append(
                {
                    "label": label,
                    "title": "Points between the score and the best order of what is known" if key == "gap" else "",
                    "number": key not in {"score", "query"},
                    "address": self.address(sort=key, down="1" if down else ""),
                    "sorted": ("descending" if self.down else "ascending") if here else "",
                }
            )
        return found
