"""A rater who is ahead of the others gets the next pair without a walk over all that the rater has judged, and never misses one."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import transaction
from django.utils import timezone
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from relevancy import books, judging, queries, ratings
from relevancy.judging import judging_positions
from relevancy.models import (
    Case,
    JudgingPair,
    JudgingQueue,
    Query,
    QueryLink,
    Rating,
    User,
    Verdict,
)
from relevancy.models.judging import JudgingPairQuerySet
from relevancy.ratings import imports
from relevancy.ratings.separate_ratings import withdraw_ratings
from tests.factories import as_values, make_attempt, make_case, make_user, query_of, run_now, set_hits

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
RATERS, DOCUMENTS = 3, ("a", "b", "c")
GRADES: dict[str, dict[str, Any]] = {
    "rate": {"value": 2},
    "cannot": {"verdict": Verdict.CANNOT},
    "later": {"verdict": Verdict.LATER},
}
STEPS = (
    *GRADES,
    "judge all",
    "remove",
    "undo",
    "withdraw",
    "import",
    "expire",
    "copy",
    "wanted",
    "build",
    "hits",
    "wait",
)


class Site:
    """A book with two queries of three documents, of which each is judged by two raters, and what happens to it."""

    def __init__(self) -> None:
        self.case: Case = make_case(2)
        run_now(make_attempt(self.case))
        self.raters: list[User] = [make_user() for _ in range(RATERS)]
        self.queries: list[Query] = [query_of(self.case, f"query {number}") for number in (1, 2)]
        self.wanted = 2
        self.set_wanted(2)
        judging.build_judging_queue(book=self.case.book)

    @property
    def queue(self) -> JudgingQueue:
        return judging.judging_queue(self.case.book)

    def set_wanted(self, wanted: int) -> None:
        order = JudgingQueue.Order.WEIGHTED
        judging.set_judging(book=self.case.book, depth=10, ratings_per_pair=wanted, order=order)

    def step(self, name: str, rater: User, query: Query, doc_id: str) -> None:
        """Changes something by a service."""
        query = Query.objects.select_related("book").get(pk=query.pk)
        if name in GRADES:
            judging.judge(query=query, doc_id=doc_id, by=rater, **GRADES[name])
        elif name == "judge all":
            for item in self.queries:
                ratings.rate_many(query=item, values=dict.fromkeys(DOCUMENTS, 1), by=rater)
        elif name == "remove":
            ratings.remove(query=query, doc_ids=[doc_id], by=rater)
        elif name == "undo":
            ratings.undo(by=rater, book=self.case.book)
        elif name == "withdraw":
            withdraw_ratings(book=self.case.book, rater=rater, by=self.case.owner, source="judge")
        elif name == "import":
            ratings.import_ratings(
                case=self.case,
                values=as_values({query.text: dict.fromkeys(DOCUMENTS, 3)}),
                total=len(DOCUMENTS),
                rater=rater,
                by=self.case.owner,
            )
        elif name == "wait":  # ten minutes, after which positions are looked for again
            cache.clear()
        elif name == "expire":
            JudgingPair.objects.filter(claimed_by=rater).update(claimed_until=timezone.now() - timedelta(minutes=1))
        elif name == "copy":
            if not QueryLink.objects.filter(book=self.case.book).exists():
                queries.link(queries=self.queries)
            books.copy_to_linked(query=query, by=self.case.owner)
        elif name == "wanted":  # the pairs are chosen again later
            self.wanted = self.wanted % 3 + 1
            self.set_wanted(self.wanted)
        elif name == "build":
            judging.build_judging_queue(book=self.case.book)
        else:
            ranking = self.case.runs.get().rankings.get(query=query)
            others = [hit for hit in ranking.hits if hit[0] != doc_id]
            set_hits([ranking], others or [["d", 1.0, {"id": "d"}]])
            judging.build_judging_queue(book=self.case.book)


def walk(queue: JudgingQueue, rater: User, now: Any, count: int) -> tuple[list[int], int]:
    """The ids of the pairs that the rater gets next, and the number that are left, by looking at every pair of the queue."""
    rated = {(rating.query_id, rating.doc_id): rating for rating in Rating.objects.filter(rater=rater)}
    pairs = sorted(
        (pair for pair in JudgingPair.objects.filter(queue=queue) if pair.level is not None),
        key=lambda pair: (pair.level, pair.key, pair.pk),
    )
    new = [pair for pair in pairs if (pair.query_id, pair.doc_id) not in rated]
    postponed = [
        pair
        for pair in pairs
        if (own := rated.get((pair.query_id, pair.doc_id))) is not None and own.verdict == Verdict.LATER
    ]
    held = [pair for pair in pairs if pair.claimed_by_id == rater.pk and pair.claimed_until > now]
    judged = {key for key, rating in rated.items() if rating.verdict != Verdict.LATER}
    expected = [pair.pk for pair in held if (pair.query_id, pair.doc_id) not in judged][:count]
    free = [pair.pk for pair in new if pair.claimed_until is None or pair.claimed_until <= now]
    return expected + free[: count - len(expected)], len(new) + len(postponed)


def check(site: Site, raters: Iterable[User], count: int = 1) -> None:
    """Compares what raters get with the walk."""
    for rater in raters:
        expected, left = walk(site.queue, rater, timezone.now(), count)
        result = [pair.pk for pair in judging.next_pairs(queue=site.queue, by=rater, count=count)]
        assert not expected or result == expected  # otherwise those that were put off
        assert judging.judging_progress(queue=site.queue, by=rater).left == left


steps = st.tuples(st.sampled_from(STEPS), st.integers(0, RATERS - 1), st.integers(0, 1), st.sampled_from(DOCUMENTS))


def run_steps(site: Site, chosen: Iterable[tuple[str, int, int, str]]) -> None:
    """Does the steps and takes them back. Each rater has a position at the beginning, which is used until ten minutes have passed."""
    cache.clear()
    with transaction.atomic():
        check(site, site.raters)
        for name, rater, query, doc_id in chosen:
            site.step(name, site.raters[rater], site.queries[query], doc_id)
            check(site, site.raters if name == "wait" else site.raters[:2])
        check(site, site.raters, 3)
        transaction.set_rollback(True)


def test_every_rater_gets_what_a_walk_over_all_pairs_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "MAX_AT_ONCE", 0)
    site = Site()

    @settings(max_examples=10, phases=[Phase.generate])  # shrinking takes minutes
    @given(st.lists(steps, min_size=3, max_size=8))
    def check_steps(chosen: list[tuple[str, int, int, str]]) -> None:
        run_steps(site, chosen)

    check_steps()


def test_a_pair_that_comes_back_is_found() -> None:
    """The first and the second rater have judged everything; then one of their judgments goes, or a pair is added."""
    site = Site()
    for rater in site.raters[:2]:
        site.step("judge all", rater, site.queries[0], "a")
    site.step("rate", site.raters[1], site.queries[0], "a")
    for returning in (
        [("remove", 1, 0, "a")],
        [("undo", 1, 0, "a")],
        [("withdraw", 1, 0, "a")],
        [("cannot", 1, 0, "a")],
        [("later", 1, 0, "a")],
        [("wanted", 0, 0, "a"), ("rate", 1, 1, "b")],
        [("wanted", 0, 0, "a"), ("build", 0, 0, "a")],
        [("hits", 0, 1, "b"), ("hits", 0, 1, "a"), ("hits", 0, 1, "c")],
        [("copy", 0, 0, "a"), ("remove", 1, 0, "a"), ("copy", 0, 0, "a")],
    ):
        run_steps(site, returning)


def test_judged_pairs_are_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site()
    site.step("judge all", site.raters[0], site.queries[0], "a")
    places: list[Any] = []
    stored = JudgingPairQuerySet.from_position

    def from_position(pairs: JudgingPairQuerySet, *position: Any) -> JudgingPairQuerySet:
        places.append(position)
        return stored(pairs, *position)

    monkeypatch.setattr(JudgingPairQuerySet, "from_position", from_position)
    assert judging.next_pairs(queue=site.queue, by=site.raters[0]) == []
    ratings.rate(query=site.queries[0], doc_id="a", value=1, by=site.raters[1])
    assert judging.next_pairs(queue=site.queue, by=site.raters[0]) == []
    assert places == [judging_positions.END] * 2
    ratings.undo(by=site.raters[0], book=site.case.book)
    assert len(judging.next_pairs(queue=site.queue, by=site.raters[0])) == 3
    assert places[-1] < judging_positions.END
