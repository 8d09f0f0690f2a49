"""Which of two result lists is better: the lists of two runs side by side, for raters who do not know which run is which."""

from __future__ import annotations

import hashlib
import math
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from relevancy import activity, runs, scores
from relevancy.judging import JudgingProgress
from relevancy.models import CaseQuery, Query, Ranking, Run, User, read_doc_ids
from relevancy.models.write_queue import write_turn
from relevancy.statistics import SignTest, sign_test

from .models import Preference, PreferenceQuery, PreferenceTest

MIN_QUERIES, MAX_QUERIES = 2, 500
MAX_DRAWN = 2_000  # queries whose lists are read to find those that differ
MAX_DEPTH = 10  # results of a list that a rater sees; more do not fit on a page
BATCH = 100
STARTED, CLOSED, OPENED = "rating.preferences_started", "rating.preferences_closed", "rating.preferences_opened"
Choice = Preference.Choice


class ListsChanged(ValidationError):
    """The results of a run have changed since the rater saw them. The message is written for the rater."""


@dataclass(frozen=True)
class ComparedLists:
    """Two result lists of a query as one rater sees them.

    left, right: results, in their order. is_swapped: whether the first run is on the right.
    key: of these results; see `Preference.lists_key`. own: what the rater has answered, if this is shown again.
    """

    query: Query
    left: Sequence[runs.Result]
    right: Sequence[runs.Result]
    is_swapped: bool
    key: str
    own: str = ""


@dataclass(frozen=True)
class QueryPreference:
    """The answers for one query: how many raters chose which list, by `Preference.Choice`."""

    query: Query
    counts: Counter[str]

    @property
    def lead(self) -> int:
        """How many more raters chose the list of the second run than that of the first."""
        return self.counts[Choice.B] - self.counts[Choice.A]

    @property
    def outcome(self) -> str:
        """The list that more raters chose than the other one; a tie if as many did; empty if all of them said "cannot judge"."""
        if not self.lead:
            return Choice.TIE if self.counts[Choice.A] + self.counts[Choice.TIE] else ""
        return Choice.A if self.lead < 0 else Choice.B


@dataclass(frozen=True)
class RaterPreferences:
    """One rater's answers by choice. left, right: how often the list of that side was chosen; sides are drawn by lot."""

    rater: User
    counts: Counter[str]
    left: int
    right: int


@dataclass(frozen=True)
class PreferenceResult:
    """What raters prefer.

    sign: over the outcomes of queries; a win is a query for which the second run's list is better.
    rows: the queries with an answer, those that favour the second run most first. raters: those with most answers first.
    open: queries that nobody has answered. outdated: answers for results that have changed since; they are left out.
    shared: pairs of answers by two raters for one query. agreement: share of them that are the same; None if there are none.
    """

    sign: SignTest
    rows: Sequence[QueryPreference]
    raters: Sequence[RaterPreferences]
    open: int
    outdated: int
    shared: int
    agreement: float | None


def find_preference_test(a: Run, b: Run) -> PreferenceTest | None:
    """Returns the test of two runs, whichever comes first."""
    tests = PreferenceTest.objects.filter(run_a__in=(a, b), run_b__in=(a, b))
    return tests.select_related("run_a__case", "run_b__case__book").first()


def count_lists(a: Run, b: Run) -> tuple[int, int, int]:
    """Returns how many queries, drawn at random, both runs have results for, how many of them have the same list in both, and of how
    many results a list is."""
    test = PreferenceTest(run_a=a, run_b=b, depth=min(_depth(a), _depth(b), MAX_DEPTH))
    chosen, drawn = _draw(test, MAX_DRAWN)
    return drawn, drawn - len(chosen), test.depth


def start_preference_test(*, a: Run, b: Run, queries: int, by: User) -> PreferenceTest:
    """Draws queries at random until `queries` of them have different lists, and pins both runs, so that their lists stay.

    Only queries that both cases have, with a weight above 0, and that both runs searched. At most `MAX_DRAWN` are drawn.
    Raises `ValidationError` if the runs cannot be compared, or no lists differ.
    """
    if a.pk == b.pk or a.case.book_id != b.case.book_id:
        raise ValidationError("Choose two runs of cases on the same book.")
    if not MIN_QUERIES <= queries <= MAX_QUERIES:
        raise ValidationError(f"Choose {MIN_QUERIES} to {MAX_QUERIES} queries, not {queries:,}.")
    if find_preference_test(a, b):
        raise ValidationError("There is a test of these two runs already. Open it on the page of the book.")
    test = PreferenceTest(run_a=a, run_b=b, created_by=by, depth=min(_depth(a), _depth(b), MAX_DEPTH))
    chosen, drawn = _draw(test, queries)
    if not chosen:
        raise ValidationError(
            f"Both runs return the same first {test.depth} results for all {drawn:,} queries, so there is nothing to compare."
            if drawn
            else "There is no query that both runs have results for."
        )
    test.drawn, test.identical = drawn, drawn - len(chosen)
    try:
        with transaction.atomic():
            for run in (a, b):
                runs.pin(run=run, by=by)
            test.save()
            PreferenceQuery.objects.bulk_create(PreferenceQuery(test=test, query_id=pk) for pk in chosen)
            _record(STARTED, test, by, queries=len(chosen))
    except runs.RunNotAllowed as error:
        raise ValidationError(str(error)) from error
    return test


def set_preference_test_closed(*, test: PreferenceTest, is_closed: bool, by: User) -> None:
    """Ends a test, or opens it again. Raters get an open one only. Answers stay."""
    verb = CLOSED if is_closed else OPENED
    with transaction.atomic():
        stored: PreferenceTest = PreferenceTest.objects.select_for_update(no_key=True).get(pk=test.pk)
        test.closed_at = stored.closed_at
        if (stored.closed_at is not None) == is_closed:
            return
        test.closed_at = timezone.now() if is_closed else None
        test.save(update_fields=["closed_at"])
        _record(verb, test, by)


def next_lists(*, test: PreferenceTest, by: User) -> ComparedLists | None:
    """Returns the lists that a rater compares next: of a query with the fewest answers by others. None if nothing is left."""
    state = _TestState.read(test)
    own = state.by_rater[by.pk]
    open_ids = [pk for pk in state.query_ids if pk not in own and pk in state.keys]
    others = Counter(pk for rater, answers in state.by_rater.items() if rater != by.pk for pk in answers)
    first = min(open_ids, key=lambda pk: (others[pk], _lot(test, by.pk, pk)), default=None)
    return None if first is None else _read_lists(test, first, by)


def read_lists(*, test: PreferenceTest, query_id: int, by: User) -> ComparedLists | None:
    """Returns the lists of one query of a test with the rater's answer. None if the test has no such query, or a run no results."""
    state = _TestState.read(test)
    if query_id not in state.keys:
        return None
    answer = state.by_rater[by.pk].get(query_id)
    return _read_lists(test, query_id, by, answer.choice if answer else "")


def preference_progress(*, test: PreferenceTest, by: User) -> JudgingProgress:
    """Returns how many of the queries that are judged a rater has not answered. Three SQL statements."""
    state = _TestState.read(test)
    return JudgingProgress(len(state.keys), len(state.keys) - len(state.by_rater[by.pk]), 0)


def prefer(*, test: PreferenceTest, query_id: int, side: str, key: str, by: User) -> bool:
    """Stores a rater's answer for a query: "left", "right", "tie" or "cannot". Returns whether it differs from the one before.

    key: of the lists that the rater saw. Raises `ListsChanged` if they are others now, and `ValidationError` if the test is closed
    or does not have the query.
    """
    with write_turn(), transaction.atomic():
        User.objects.select_for_update(no_key=True).filter(pk=by.pk).values_list("pk").first()  # two requests at once
        if PreferenceTest.objects.filter(pk=test.pk, closed_at=None).first() is None:
            raise ValidationError("This test has been closed, so your answer was not saved.")
        test_query = PreferenceQuery.objects.filter(test=test, query=query_id).first()
        if test_query is None:
            raise ValidationError("The query does not belong to this test.")
        if _keys(test, [query_id]).get(query_id) != key:
            raise ListsChanged("The results of this query have changed since this page was opened. Compare them again.")
        choice = _choice(test, by.pk, query_id, side)
        before = Preference.objects.standing().filter(test_query=test_query, rater=by).last()
        if before is not None and (before.choice, before.lists_key) == (choice, key):
            return False
        Preference.objects.create(test_query=test_query, rater=by, choice=choice, lists_key=key)
    return True


def undo_preference(*, test: PreferenceTest, by: User) -> int | None:
    """Takes back the rater's last answer in a test: the one before counts again, if there was one.

    Returns the id of the query; None if there is nothing to take back.
    """
    with write_turn(), transaction.atomic():
        User.objects.select_for_update(no_key=True).filter(pk=by.pk).values_list("pk").first()
        own = Preference.objects.standing().filter(test_query__test=test, rater=by)
        last: Preference | None = own.select_related("test_query").last()
        if last is None:
            return None
        Preference.objects.filter(pk=last.pk).update(undone_at=timezone.now())
    return int(last.test_query.query_id)


def last_preferred(*, test: PreferenceTest, by: User) -> int | None:
    """Returns the id of the query that the rater answered last."""
    own = Preference.objects.standing().filter(test_query__test=test, rater=by)
    return own.values_list("test_query__query_id", flat=True).last()


def measure_preferences(test: PreferenceTest) -> PreferenceResult:
    """Returns what raters prefer, by query and by rater. Five SQL statements."""
    state = _TestState.read(test)
    by_query: dict[int, list[str]] = defaultdict(list)
    for answers in state.by_rater.values():
        for query_id, answer in answers.items():
            by_query[query_id].append(answer.choice)
    queries = Query.objects.in_bulk(by_query)
    rows = [QueryPreference(queries[query_id], Counter(choices)) for query_id, choices in by_query.items()]
    rows.sort(key=lambda row: (-row.lead, row.query.pk))
    outcomes = Counter(row.outcome for row in rows)
    pairs, same = _count_pairs(rows)
    users = User.objects.in_bulk(state.by_rater)
    raters = [_count_rater(test, users[pk], answers) for pk, answers in state.by_rater.items() if answers]
    return PreferenceResult(
        sign=sign_test(outcomes[Choice.B], outcomes[Choice.A], outcomes[Choice.TIE]),
        rows=rows,
        raters=sorted(raters, key=lambda row: (-row.counts.total(), str(row.rater), row.rater.pk)),
        open=len(state.query_ids) - len(by_query),
        outdated=state.outdated,
        shared=pairs,
        agreement=same / pairs if pairs else None,
    )


@dataclass
class _TestState:
    """The queries of a test and the answers that count.

    keys: of the present lists, of queries that are not retired and that both runs have results for. by_rater: the last answer of
    each rater by query id. outdated: answers for other lists than the present ones.
    """

    query_ids: list[int]
    keys: Mapping[int, str]
    by_rater: dict[int, dict[int, Preference]] = field(default_factory=lambda: defaultdict(dict))
    outdated: int = 0

    @classmethod
    def read(cls, test: PreferenceTest) -> _TestState:
        """Three SQL statements."""
        test_queries = dict(test.test_queries.filter(query__retired_at=None).values_list("pk", "query_id"))
        state = cls(list(test_queries.values()), _keys(test, list(test_queries.values())))
        last: dict[tuple[int, int], Preference] = {}
        for answer in Preference.objects.standing().filter(test_query__in=list(test_queries)):
            last[answer.rater_id, test_queries[answer.test_query_id]] = answer
        for (rater_id, query_id), answer in last.items():
            if state.keys.get(query_id) == answer.lists_key:
                state.by_rater[rater_id][query_id] = answer
            else:
                state.outdated += 1
        return state


def _record(verb: str, test: PreferenceTest, by: User, **details: Any) -> None:
    """Adds a line to the logs of the cases of both runs."""
    a, b = test.run_a, test.run_b
    names = [f"run {run.number}" if a.case_id == b.case_id else f"run {run.number} of {run.case}" for run in (a, b)]
    for case_id in sorted({a.case_id, b.case_id}):
        activity.record(verb, case=case_id, by=by, subject=" and ".join(names), object_id=test.pk, **details)


def _depth(run: Run) -> int:
    return int(run.config["depth"])


def _draw(test: PreferenceTest, wanted: int) -> tuple[list[int], int]:
    """Returns the ids of queries whose lists differ, and how many queries were drawn to find them."""
    a, b = test.run_a, test.run_b
    shared = CaseQuery.objects.present().filter(case=a.case_id, weight__gt=0, query__retired_at=None)
    second_queries = CaseQuery.objects.present().filter(case=b.case_id, weight__gt=0).values("query_id")
    candidates = sorted(shared.filter(query__in=second_queries).values_list("query_id", flat=True))
    random.Random(test.seed).shuffle(candidates)
    chosen: list[int] = []
    drawn = 0
    for batch in batched(candidates, BATCH):
        lists: dict[int, dict[int, list[str]]] = defaultdict(dict)
        rankings = Ranking.objects.filter(run__in=(a.pk, b.pk), query__in=batch, error_kind="")
        for ranking in read_doc_ids(rankings):
            lists[ranking.query_id][ranking.run_id] = ranking.doc_ids[: test.depth]
        for query_id in batch:
            if len(lists[query_id]) < 2:
                continue
            drawn += 1
            if lists[query_id][a.pk] != lists[query_id][b.pk]:
                chosen.append(query_id)
            if len(chosen) == wanted or drawn == MAX_DRAWN:
                return chosen, drawn
    return chosen, drawn


def _keys(test: PreferenceTest, query_ids: Sequence[int]) -> dict[int, str]:
    """Returns `{query id: key of both result lists}` of queries that both runs have results for. Does not read the results: a search
    that is sent again has another ranking. One SQL statement."""
    parts: dict[int, list[tuple[int, int]]] = defaultdict(list)
    rankings = Ranking.objects.filter(run__in=(test.run_a_id, test.run_b_id), query__in=query_ids, error_kind="")
    for query_id, run_id, pk in rankings.values_list("query_id", "run_id", "pk"):
        parts[query_id].append((run_id, pk))
    return {
        query_id: hashlib.blake2b(repr(sorted(doc_ids)).encode(), digest_size=8).hexdigest()
        for query_id, doc_ids in parts.items()
        if len(doc_ids) == 2
    }


def _lot(test: PreferenceTest, rater_id: int, query_id: int) -> int:
    """Returns a random number, always the same for a test, a rater and a query."""
    digest = hashlib.blake2b(f"{test.seed}:{rater_id}:{query_id}".encode(), digest_size=8).digest()
    return int.from_bytes(digest)


def _is_swapped(test: PreferenceTest, rater_id: int, query_id: int) -> bool:
    """Whether the first run's list is on the right."""
    return bool(_lot(test, rater_id, query_id) & 1)


def _choice(test: PreferenceTest, rater_id: int, query_id: int, side: str) -> str:
    if side in (Choice.TIE, Choice.CANNOT):
        return side
    is_first = (side == "left") != _is_swapped(test, rater_id, query_id)
    return Choice.A if is_first else Choice.B


def _read_lists(test: PreferenceTest, query_id: int, by: User, own: str = "") -> ComparedLists:
    rankings = Ranking.objects.filter(run__in=(test.run_a_id, test.run_b_id), query=query_id).select_related("run")
    by_run = {ranking.run_id: ranking for ranking in rankings}
    ratings = scores.QueryRatings.read(query_id)
    a, b = (
        runs.build_results(by_run[pk], by=by, depth=test.depth, ratings=ratings)
        for pk in (test.run_a_id, test.run_b_id)
    )
    is_swapped = _is_swapped(test, by.pk, query_id)
    left, right = (b, a) if is_swapped else (a, b)
    if own in (Choice.A, Choice.B):
        own = "left" if (own == Choice.A) != is_swapped else "right"
    query = Query.objects.get(pk=query_id)
    return ComparedLists(query, left, right, is_swapped, _keys(test, [query_id])[query_id], own)


def _count_rater(test: PreferenceTest, rater: User, answers: Mapping[int, Preference]) -> RaterPreferences:
    sides = Counter(
        (answer.choice == Choice.A) != _is_swapped(test, rater.pk, query_id)
        for query_id, answer in answers.items()
        if answer.choice in (Choice.A, Choice.B)
    )
    choices = Counter(answer.choice for answer in answers.values())
    return RaterPreferences(rater, choices, left=sides[True], right=sides[False])


def _count_pairs(rows: Sequence[QueryPreference]) -> tuple[int, int]:
    """Returns the number of pairs of answers by two raters for one query, "cannot judge" left out, and of those that are the same."""
    pairs = same = 0
    for row in rows:
        counts = [row.counts[choice] for choice in (Choice.A, Choice.B, Choice.TIE)]
        pairs += math.comb(sum(counts), 2)
        same += sum(math.comb(count, 2) for count in counts)
    return pairs, same
