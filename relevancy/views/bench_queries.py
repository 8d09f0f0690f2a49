"""The list of a case's queries with their scores, and what an opened one shows."""

from functools import cached_property, partial
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import F, Q, QuerySet
from django.shortcuts import get_object_or_404

from relevancy import cases, evaluation
from relevancy.evaluation import Draft
from relevancy.models import CaseQuery, Ranking

from .bench_scores import ScoresShown
from .listing import SORTS, STATES, number

PAGE_SIZE = 50
MOST_OPEN = 5
MOST_BUTTONS = 11


class QueriesShown(ScoresShown):
    """The queries of the case as the list shows them."""

    @cached_property
    def entries(self) -> QuerySet[CaseQuery]:
        """The case's queries as the list shows them, before paging."""
        entries = self.case.case_queries.present().with_scores(self.run, self.version, self.before)
        if self.listing.text:
            entries = entries.filter(query__text__icontains=self.listing.text)
        if self.listing.state:
            entries = entries.filter(STATES[self.listing.state][1])
        if self.listing.tag:
            entries = entries.tagged(self.listing.tag)
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
        if not self.listing.filtered:
            paginator.__dict__["count"] = self.query_count
        return paginator.get_page(self.listing.page)

    @cached_property
    def tags(self) -> list[str]:
        """The tags that the list can be filtered by."""
        return cases.tags.of_case(self.case)

    @cached_property
    def by_hand(self) -> bool:
        """Whether the queries may be dragged to other places."""
        return self.can_edit and self.listing.by_hand

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
        if entry.score_error:
            return "script"
        if entry.asked_text != entry.query.text:
            return "edited"
        return "empty" if not entry.returned else "done"

    def entry(self, entry_id: int) -> CaseQuery:
        """One query of the case with its scores; 404 if it is not there."""
        entries = self.case.case_queries.present().with_scores(self.run, self.version, self.before)
        return get_object_or_404(entries, pk=entry_id)

    def inside(self, entry: Any) -> dict[str, Any]:
        """An opened query: its scores with why they are so, its results, and what the bar below them needs."""
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
            "can_explain": evaluation.can_explain(ranking),
            # Counted where it is shown, which an answer to a rating does not.
            "not_shown": partial(evaluation.count_not_shown, ranking, depth=depth),
            **self._scores(ranking),
        }

    def _scores(self, ranking: Ranking) -> dict[str, Any]:
        """The query's score under each scorer, and why the primary's is so: a script is not run again for that, only on demand."""
        stored = {score.version_id: score for score in ranking.scores.filter(version__in=self.versions)}
        explained = ""
        if self.version.measure:
            tried = evaluation.try_query(
                Draft.of(self.version), run=ranking.run, query_id=ranking.query_id, working=False
            )
            explained = tried.explanation.sentence if tried else ""
        return {
            "scores": [(version, stored.get(version.pk)) for version in self.versions],
            "explained": explained,
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
        return bool(self.case.book.top == 10)

    @cached_property
    def here(self) -> str:
        """The list's address with its page."""
        return self.url(page=self.page.number if self.page.number > 1 else "")

    def open_url(self, entry: CaseQuery) -> str:
        """The workbench with one query open, on the page where it stands in the usual order."""
        earlier = Q(position__lt=entry.position) | Q(position=entry.position, pk__lt=entry.pk)
        page = self.case.case_queries.present().filter(earlier).count() // PAGE_SIZE + 1
        return self.url(open=entry.pk, page=page if page > 1 else "") + f"#query-{entry.pk}"
