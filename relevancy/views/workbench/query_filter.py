"""How the list of queries is filtered and sorted, as the address of the workbench says."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import F, Q
from django.http import QueryDict

from relevancy import scores
from relevancy.models.case import CaseQueryQuerySet
from relevancy.views.requests import parse_number
from relevancy.views.tables import read_sort

MANUAL_ORDER = "place"  # the word that addresses have always used for it
SORT_FIELDS = {
    MANUAL_ORDER: ("position", "id"),
    "score": ("score", "position"),
    "query": ("query__text",),
    "difference": ("difference", "position"),
    "gap": ("gap", "position"),
    "hits": ("hits", "position"),
    "unrated": ("unrated", "position"),
    "ms": ("took_ms", "position"),
}
SECONDARY_FIELDS = {f"scorer{number}": (f"score_{number}", "position") for number in (1, 2, 3)}
SORT_FIELDS |= SECONDARY_FIELDS
NEVER_NULL = {"position", "query__text"}
# Of two runs, a query can have a score in only one: because nothing rated was returned, or because a search failed.
_DROPPED = Q(score=None, score_before__isnull=False, weight__gt=0)
_GAINED = Q(score__isnull=False, score_before=None, weight__gt=0)
COMPARED_STATES = {
    "better": ("Better", scores.IS_BETTER),
    "worse": ("Worse", scores.IS_WORSE),
    "same": ("The same", scores.IS_SAME),
    "changed": ("Changed scored/unscored", _DROPPED | _GAINED),
    "dropped": ("Not scored any more", _DROPPED),
    "gained": ("Newly scored", _GAINED),
}
STATES = {
    "unrated": ("Only unrated", Q(unrated__gt=0)),
    "failed": ("Failed", ~Q(error_kind="") & Q(error_kind__isnull=False)),
    "scorer": ("Scorer failed", ~Q(score_error="") & Q(score_error__isnull=False)),
    "empty": ("No results", Q(returned=0, error_kind="")),
    "unscored": ("Without a score", Q(score=None)),
    **COMPARED_STATES,
}


@dataclass(frozen=True)
class QueryFilter:
    """Filter, order, page and run of the list.

    text: part of the query's text, in any case.
    state: a key of `STATES`, or empty.
    tag: the exact spelling of a tag, or empty.
    sort: a key of `SORT_FIELDS`, with "-" before it for the highest first.
    page: as the address says it, which may be anything.
    run: number of an older run, 0 for the newest.
    """

    text: str = ""
    state: str = ""
    tag: str = ""
    sort: str = MANUAL_ORDER
    page: str = "1"
    run: int = 0

    @classmethod
    def from_parameters(cls, parameters: QueryDict) -> "QueryFilter":
        """Reads an address; ignores parameters with an unknown value."""
        state = parameters.get("state", "")
        return cls(
            text=parameters.get("q", "").replace("\0", "").strip(),
            state=state if state in STATES else "",
            tag=parameters.get("tag", "").replace("\0", "").strip(),
            sort=read_sort(parameters.get("sort", ""), SORT_FIELDS, MANUAL_ORDER),
            page=parameters.get("page", "1"),
            run=parse_number(parameters.get("run", "")),
        )

    @property
    def is_active(self) -> bool:
        """Whether the list leaves queries out."""
        return bool(self.text or self.state or self.tag)

    @property
    def is_manual_order(self) -> bool:
        """Whether the list is complete and in the order that can be changed by hand."""
        return self.sort == MANUAL_ORDER and not self.is_active

    def matching(self, case_queries: CaseQueryQuerySet) -> CaseQueryQuerySet:
        """Filters case queries with scores (`CaseQuerySet.with_scores`)."""
        if self.text:
            case_queries = case_queries.filter(query__text__icontains=self.text)
        if self.state:
            case_queries = case_queries.filter(STATES[self.state][1])
        if self.tag:
            case_queries = case_queries.tagged(self.tag)
        return case_queries

    def apply(self, case_queries: CaseQueryQuerySet) -> CaseQueryQuerySet:
        """Filters and sorts case queries with scores; missing values come last."""
        first, *others = SORT_FIELDS[self.sort.removeprefix("-")]
        # Where nothing can be missing, the plain order lets the database read from an index.
        nulls_last = None if first in NEVER_NULL else True
        ordered = F(first).desc if self.sort.startswith("-") else F(first).asc
        return self.matching(case_queries).order_by(ordered(nulls_last=nulls_last), *others, "id")

    def parameters(self, **changes: object) -> dict[str, object]:
        """Returns the parameters of the list with some changed; leaves out what is the default."""
        parameters: dict[str, object] = {
            "q": self.text,
            "state": self.state,
            "tag": self.tag,
            "sort": self.sort,
            "run": self.run,
            **changes,
        }
        if parameters["sort"] == MANUAL_ORDER:
            del parameters["sort"]
        return {name: value for name, value in parameters.items() if value}

    def query_string(self, **changes: object) -> str:
        """Returns `parameters` as part of an address."""
        return urlencode(self.parameters(**changes))
