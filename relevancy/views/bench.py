"""What the workbench shows, gathered once: the case, the run, its list of queries and their results."""

from functools import cached_property
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.db.models import F, Q, QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.urls import reverse

from relevancy import evaluation
from relevancy.models import Book, Case, CaseQuery, Role, Run, Scorer, ScorerVersion
from relevancy.templatetags import numbers

from .listing import SORTS, STATES, Listing, number
from .tune_pane import tune_pane

PAGE_SIZE = 50
INLINE_RESCORE = 200
MOST_OPEN = 5
MOST_BUTTONS = 11


def find_case(request: HttpRequest, case_id: int) -> Case:
    """A case the user may see, with `role`; 404 for any other."""
    return get_object_or_404(Case.objects.visible_to(request.user).select_related("book", "owner"), pk=case_id)


class Bench:
    """One request's view of a case. Everything is read once, when first asked for."""

    def __init__(self, request: HttpRequest, case: Any) -> None:
        self.request = request
        self.case = case
        self.user = request.user
        self.listing = Listing.read(request.GET)

    @cached_property
    def can_rate(self) -> bool:
        return bool(self.case.role >= Role.RATER)

    @cached_property
    def can_edit(self) -> bool:
        return bool(self.case.role >= Role.EDITOR)

    @cached_property
    def can_edit_book(self) -> bool:
        return self.can_edit and Book.objects.editable_by(self.user).filter(pk=self.case.book_id).exists()

    @cached_property
    def run(self) -> Run | None:
        """The run shown: the newest, or the one whose number the address says."""
        run = evaluation.run_to_show(self.case, self.asked_run) or self.newest
        if run is not None:
            run.case = self.case
        return run

    @cached_property
    def asked_run(self) -> int:
        """The number of an older run, 0 for the newest."""
        return self.listing.run or number(self.request.POST.get("run", ""))

    @cached_property
    def newest(self) -> Run | None:
        return evaluation.newest_run(self.case)

    @cached_property
    def older(self) -> bool:
        """Whether the run shown is not the newest one: it can be looked at and rated, not searched."""
        return bool(self.run and self.newest and self.run.pk != self.newest.pk)

    @cached_property
    def versions(self) -> list[ScorerVersion]:
        return evaluation.versions_of(self.case)

    @cached_property
    def version(self) -> ScorerVersion:
        return self.versions[0]

    @cached_property
    def scorers(self) -> list[Scorer]:
        """Those on offer, and the one in use even if it is retired or somebody's own."""
        offered = Scorer.objects.visible_to(self.user).live().exclude(versions=None)
        return list((offered | Scorer.objects.filter(pk=self.version.scorer_id)).distinct())

    @cached_property
    def points(self) -> list[Any]:
        return evaluation.history(self.case, self.version)

    @cached_property
    def standing(self) -> evaluation.Standing:
        return evaluation.standing(self.points, self.run) if self.run else evaluation.Standing(None, None)

    @cached_property
    def before(self) -> Run | None:
        """The last run before the one shown that has a score."""
        return self.standing.before.run if self.standing.before else None

    @cached_property
    def chart(self) -> list[dict[str, Any]]:
        return [
            {
                "label": f"run {row.run.number}",
                "when": row.day,
                "score": row.score,
                "low": row.low,
                "high": row.high,
                "title": self._hover(row),
                "href": f"{self.case_url}?run={row.run.number}",
            }
            for row in self.points
        ]

    @staticmethod
    def _hover(row: Any) -> str:
        name = f" {row.run.attempt.name}" if row.run.attempt.name else ""
        shown = f"{numbers.score(row.score)} · {row.scored} of {row.queries}"
        return f"Run {row.run.number} · attempt {row.run.attempt.number}{name} · {shown}"

    @cached_property
    def unsearched(self) -> dict[str, int]:
        if self.run is None or self.run.under_way or self.older:
            return {"new": 0, "edited": 0}
        return evaluation.unsearched(self.run)

    @cached_property
    def ids_look_wrong(self) -> bool:
        return bool(self.run and not self.run.under_way and evaluation.ids_look_wrong(self.run, self.standing.now))

    @cached_property
    def looks_deeper(self) -> int:
        """How many hits the scorer looks at, where the run fetched fewer; 0 where all is well."""
        cutoff = evaluation.measure_of(self.version.measure).cutoff or 0
        return cutoff if self.run and cutoff > self.run.rows else 0

    # --- the list of queries ---

    @cached_property
    def entries(self) -> QuerySet[CaseQuery]:
        """The case's queries as the list shows them, before paging."""
        entries = self.case.case_queries.present().with_scores(self.run, self.version, self.before)
        if self.listing.text:
            entries = entries.filter(query__text__icontains=self.listing.text)
        if self.listing.state:
            entries = entries.filter(STATES[self.listing.state][1])
        first, *rest = SORTS[self.listing.sort]
        order = F(first).desc(nulls_last=True) if self.listing.down else F(first).asc(nulls_last=True)
        if first in {"position", "query__text"}:
            order = F(first).desc() if self.listing.down else F(first).asc()
        return entries.order_by(order, *rest, "id")

    @cached_property
    def query_count(self) -> int:
        return self.case.case_queries.present().count()

    @cached_property
    def page(self) -> Page:
        paginator = Paginator(self.entries, PAGE_SIZE)
        if not (self.listing.text or self.listing.state):
            paginator.__dict__["count"] = self.query_count
        return paginator.get_page(self.listing.page)

    @cached_property
    def opened(self) -> set[int]:
        """Case queries shown open, at most five: each costs statements of its own."""
        return {number(word) for word in self.request.GET.getlist("open")[:MOST_OPEN]}

    def rows(self) -> list[dict[str, Any]]:
        """The page's queries with their results where they are open."""
        place = self.page.start_index()
        return [self.row(entry, place + index, entry.pk in self.opened) for index, entry in enumerate(self.page)]

    def row(self, entry: CaseQuery, place: int | None = None, opened: bool = False) -> dict[str, Any]:
        """One query as the list shows it."""
        sent = self.request.POST.get("place") or self.request.GET.get("place") or ""
        return {
            "entry": entry,
            "place": place or number(sent) or None,
            "opened": opened,
            "state": self._state(entry),
            "inside": self.inside(entry) if opened else None,
        }

    def _state(self, entry: Any) -> str:
        if self.run is None:
            return "never"
        if entry.ranking_id is None:
            return "waiting" if self.run.under_way else "new"
        if entry.error_kind:
            return "failed"
        if entry.asked_text != entry.query.text:
            return "edited"
        return "empty" if not entry.returned else "done"

    def entry(self, entry_id: int) -> CaseQuery:
        """One query of the case with its scores; 404 if it is not there."""
        entries = self.case.case_queries.present().with_scores(self.run, self.version, self.before)
        return get_object_or_404(entries, pk=entry_id)

    def inside(self, entry: Any) -> dict[str, Any]:
        """An opened query: its results, and what the bar below them needs."""
        ranking = self.run.rankings.filter(query=entry.query_id).first() if self.run else None
        if ranking is None or ranking.error_kind:
            return {"ranking": ranking, "results": []}
        assert self.run is not None
        ranking.run = self.run
        before = self.before.rankings.filter(query=entry.query_id, error_kind="").first() if self.before else None
        depth = self.run.asked["depth"]
        counted = ranking.returned if ranking.total is None else ranking.total
        results = evaluation.results(ranking, by=self.user, depth=depth, before=before)
        return {
            "ranking": ranking,
            "results": results,
            "depth": depth,
            "unrated": sum(result.mine is None and not result.repeat for result in results),
            "repeats": sum(result.repeat for result in results),
            "more": counted - len(results),
            "before": self.before if before else None,
        }

    @cached_property
    def columns(self) -> list[dict[str, Any]]:
        return self.listing.columns(self.before)

    @cached_property
    def buttons(self) -> bool:
        """Whether the scale is short enough for a button per grade."""
        return len(self.case.book.scale) <= MOST_BUTTONS

    @cached_property
    def ten(self) -> bool:
        """Whether the key 0 means the grade 10."""
        return self.case.book.top == 10

    @cached_property
    def unsearched_total(self) -> int:
        return sum(self.unsearched.values())

    # --- addresses ---

    @cached_property
    def case_url(self) -> str:
        return reverse("case", args=[self.case.pk])

    def url(self, **said: Any) -> str:
        """The workbench's address, as it is looked at now."""
        query = self.listing.address(**said)
        return self.case_url + (f"?{query}" if query else "")

    @cached_property
    def here(self) -> str:
        """The list's address with its page."""
        return self.url(page=self.page.number if self.page.number > 1 else "")

    def open_url(self, entry: CaseQuery) -> str:
        """The workbench with one query open, on the page where it stands in the usual order."""
        earlier = Q(position__lt=entry.position) | Q(position=entry.position, pk__lt=entry.pk)
        page = self.case.case_queries.present().filter(earlier).count() // PAGE_SIZE + 1
        return self.url(open=entry.pk, page=page if page > 1 else "") + f"#query-{entry.pk}"

    # --- the tune pane ---

    def tune(self, number: str = "", typed: Any = None) -> dict[str, Any]:
        """What the tune pane shows; see `tune_pane`."""
        return tune_pane(self.case, self.version, self.user, number, typed)


def editable(request: HttpRequest, case_id: int) -> Bench:
    """The workbench of a case the user may change; 404 for one he does not see, 403 for one he may only look at or rate."""
    bench = Bench(request, find_case(request, case_id))
    if not bench.can_edit:
        raise PermissionDenied("You may not run or change this case. A team owner can make you an editor.")
    return bench
