"""Imports of ratings: all or nothing, in one transaction or, with the book closed meanwhile, in many that are undone if it fails."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.utils import timezone

from relevancy import books, cases, judging, queries, ratings, scores, tasks
from relevancy.models import (
    Activity,
    Book,
    Case,
    CaseQuery,
    JudgingPair,
    JudgingQueue,
    Query,
    Rating,
    RatingChange,
    RatingImport,
    RatingSpread,
    User,
    Verdict,
    write_queue,
)
from relevancy.ratings import imports
from tests.factories import (
    as_values,
    make_attempt,
    make_case,
    make_user,
    query_of,
    rate_all,
    remap,
    run_now,
    set_rule,
    set_scale,
)

pytestmark = pytest.mark.django_db
RATERS = {"query 1": [("a", "Ann", 3.0), ("a", "", 1.0), ("b", "Ben", 2.0)], "new": [("c", "Ann", 0.0)]}


class Killed(BaseException):
    """Ends a process in a test: nothing that follows is executed."""


def killed(*arguments: Any, **options: Any) -> None:
    raise Killed


@pytest.fixture(params=["in one transaction", "in parts"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Imports as few ratings, and as many."""
    if request.param == "in parts":
        in_parts(monkeypatch)


def in_parts(monkeypatch: pytest.MonkeyPatch, size: int = 2) -> None:
    monkeypatch.setattr(imports, "MAX_AT_ONCE", 0)
    monkeypatch.setattr(imports, "CHUNK", size)
    monkeypatch.setattr(write_queue, "PAUSE_SECONDS", 0)


def import_all(case: Case, values: Any, by: User | None = None, raters: tuple[str, ...] = ()) -> int:
    """Imports ratings of the case's owner, or `by`, and of others by name. Returns the number of changes."""
    by = by or case.owner
    total = sum(len(documents) for documents in values.values())
    if not raters:
        values = as_values(values)
    return ratings.import_ratings(case=case, values=values, total=total, rater=by, raters=raters, by=by)[0]


def grades(case: Case) -> dict[str, dict[str, float]]:
    """The grades that count, as scores see them."""
    texts = dict(case.book.queries.values_list("pk", "text"))
    known = scores.known_grades(Book.objects.get(pk=case.book_id), texts)
    return {texts[pk]: documents for pk, documents in known.items() if documents}


def log_of(query: Query, doc_id: str) -> list[tuple[Any, ...]]:
    changes = RatingChange.objects.filter(query=query, doc_id=doc_id).order_by("id")
    return list(changes.values_list("source", "old_value", "new_value"))


def state() -> list[list[Any]]:
    """Everything that an import may change, without counters and times of scores."""
    return [
        list(Rating.objects.order_by("pk").values()),
        list(RatingChange.objects.order_by("pk").values()),
        list(Query.objects.order_by("pk").values("pk", "text", "retired_at")),
        list(CaseQuery.objects.order_by("pk").values()),
        list(User.objects.order_by("pk").values("pk", "email")),
        list(JudgingPair.objects.order_by("pk").values("pk", "level")),
        list(RatingSpread.objects.order_by("query_id", "doc_id").values()),
    ]


def kill_after(monkeypatch: pytest.MonkeyPatch, case: Case, parts: int, values: Any, **options: Any) -> None:
    """Imports in parts, and ends the process after some of them."""
    store, done = imports._store_changes, []

    def store_some(*arguments: Any) -> Any:
        if len(done) == parts:
            raise Killed
        done.append(1)
        return store(*arguments)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        in_parts(patch)
        patch.setattr(imports, "_store_changes", store_some)
        patch.setattr(imports, "undo_import", killed)
        import_all(case, values, **options)
    assert len(done) == parts


def sweep_later() -> list[int]:
    """Sweeps when the process has not written for long."""
    RatingImport.objects.unfinished().update(progressed_at="2026-01-01T00:00Z")
    return ratings.sweep_imports()


@pytest.mark.usefixtures("both_ways")
def test_ratings_that_are_new_or_differ_are_stored_and_logged() -> None:
    case = make_case(2, {"query 1": {"a": 1, "b": 1}, "query 2": {"a": 1}})
    ratings.rate(query=query_of(case, "query 1"), doc_id="b", value=1, by=case.owner, note="seen")
    rate_all(case, {"query 1": {"b": 0}}, make_user("Other"))
    same = Rating.objects.values().get(doc_id="a", query__text="query 1")
    before = dict(Query.objects.values_list("text", "revision"))
    assert import_all(case, {"query 1": {"a": 1, "b": 3}, "new": {"c": 2}, "only named": {}}) == 2
    assert grades(case) == {"query 1": {"a": 1, "b": 3}, "query 2": {"a": 1}, "new": {"c": 2}}
    assert Rating.objects.values().get(pk=same["id"]) == same
    assert Rating.objects.get(doc_id="b", rater=case.owner).note == "seen"
    assert log_of(query_of(case, "query 1"), "b")[-1] == ("import", 1, 3)
    assert log_of(query_of(case, "new"), "c") == [("import", None, 2)]
    after = dict(Query.objects.values_list("text", "revision"))
    assert after == before | {"query 1": before["query 1"] + 1, "new": 1, "only named": 0}
    assert [str(row) for row in case.case_queries.present()] == ["query 1", "query 2", "new", "only named"]
    line = Activity.objects.get(verb=Activity.Verb.RATINGS_IMPORTED)
    assert (line.by, line.details["count"]) == (case.owner, 2)
    assert not RatingImport.objects.unfinished().exists()


@pytest.mark.usefixtures("both_ways")
def test_ratings_of_several_raters_are_one_import() -> None:
    case = make_case(2, {"query 1": {"a": 0}})
    assert import_all(case, RATERS, raters=("Ann", "Ben")) == 4
    rows = Rating.objects.filter(query__text="query 1").order_by("pk").values_list("doc_id", "rater__name", "value")
    assert set(rows) == {("a", "Ann", 3), ("a", case.owner.name, 1), ("b", "Ben", 2)}
    assert log_of(query_of(case, "query 1"), "a")[1:] == [("import", None, 3), ("import", 0, 1)]
    assert import_all(case, RATERS, raters=("Ann", "Ben")) == 0


@pytest.mark.usefixtures("both_ways")
def test_of_several_raters_the_one_that_the_file_names_last_has_the_newest_rating() -> None:
    case = make_case(1)
    import_all(case, {"query 1": [("a", "Ann", 3.0), ("a", "Ben", 2.0)]}, raters=("Ann", "Ben"))
    assert grades(case) == {"query 1": {"a": 2}}
    import_all(case, {"query 1": [("a", "Ann", 1.0), ("a", "Ben", 0.0)]}, raters=("Ben", "Ann"))
    assert grades(case) == {"query 1": {"a": 1}}


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("is_own", [False, True])
def test_decision_of_an_adjudicator(is_own: bool) -> None:
    """The decision of another user counts; one's own ends with a rating of another grade."""
    case = make_case(1, {"query 1": {"a": 0, "b": 1}})
    judge = make_user("Judge")
    judging.adjudicate(query=query_of(case, "query 1"), doc_id="a", value=2, by=judge)
    import_all(case, {"query 1": {"a": 3, "b": 3}}, by=judge if is_own else case.owner)
    assert grades(case) == {"query 1": {"a": 3 if is_own else 2, "b": 3}}
    assert judging.count_adjudications(case.book) == (0 if is_own else 1)
    change = RatingChange.objects.filter(doc_id="a").order_by("id").last()
    assert change is not None and change.source == "import"
    assert (change.old_is_adjudication, change.new_is_adjudication) == (is_own, False)


@pytest.mark.usefixtures("both_ways", "script")
def test_judging_leaves_out_what_was_imported() -> None:
    case = make_case(1)
    run = run_now(make_attempt(case))
    rater, query = make_user(), query_of(case, "query 1")
    queue = JudgingQueue.objects.create(book=case.book, ratings_per_pair=2, run_ids=[run.pk], pair_count=3)
    for number, doc_id in enumerate("abc"):
        JudgingPair.objects.create(queue=queue, query=query, doc_id=doc_id, run=run, rank=1, key=number)
    judging.judge(query=query, doc_id="b", verdict=Verdict.LATER, by=rater)
    import_all(case, {"query 1": {"a": 3, "b": 2}}, by=rater)
    assert [pair.doc_id for pair in judging.next_pairs(queue=queue, by=rater)] == ["c"]
    assert set(queue.pairs.values_list("doc_id", "level")) == {("a", 1), ("b", 1), ("c", 0)}


def test_an_import_cannot_be_taken_back_by_undoing_an_earlier_rating() -> None:
    case = make_case(1)
    query = query_of(case, "query 1")
    ratings.rate(query=query, doc_id="a", value=3, by=case.owner)
    import_all(case, {"query 1": {"a": 1}})
    undone = ratings.undo(case=case, by=case.owner)
    assert undone is not None and list(undone.kept) == ["a"]
    assert grades(case) == {"query 1": {"a": 1}}


def rename_query(case: Case) -> None:
    queries.edit(case_query=case.case_queries.get(query__text="query 1"), text="Renamed")


def change_scale(case: Case) -> None:
    set_scale(book=Book.objects.get(pk=case.book_id), scale=[[0, ""], [1, ""]])


def delete_case(case: Case) -> None:
    cases.delete(case=case, by=case.owner)


@pytest.mark.parametrize(
    ("place", "step", "meanwhile", "message"),
    [
        (queries, "find", delete_case, "The case was deleted"),
        (queries, "find", change_scale, "scale of the book .* was changed"),
        (imports, "begin_import", delete_case, "The case was deleted"),
        (imports, "begin_import", change_scale, "scale of the book .* was changed"),
        (queries, "add_prepared", delete_case, "The case was deleted"),
        (queries, "add_prepared", rename_query, "was renamed"),
    ],
)
def test_changes_that_an_import_cannot_survive(
    place: Any, step: str, meanwhile: Callable[[Case], None], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one transaction, or in parts from the step that only large imports have."""
    case = make_case(2, {"query 1": {"a": 1}})
    if step != "find":
        in_parts(monkeypatch)
    original = getattr(place, step)

    def change_first(*arguments: Any, **options: Any) -> Any:
        meanwhile(Case.objects.get(pk=case.pk))
        return original(*arguments, **options)

    monkeypatch.setattr(place, step, change_first)
    with pytest.raises(ratings.ImportFailed, match=message):
        import_all(case, {"query 1": {"a": 0}, "query 2": {"a": 1}})
    assert list(Rating.objects.values_list("doc_id", "value")) == [("a", 1)]
    assert RatingChange.objects.count() == 1
    assert not RatingImport.objects.unfinished().exists()


@pytest.mark.usefixtures("both_ways")
def test_a_failed_import_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(2, {"query 1": {"a": 0}})
    before = state()
    monkeypatch.setattr(imports, "_record", killed)
    with pytest.raises(Killed):
        import_all(case, RATERS, raters=("Ann", "Ben"))
    assert state() == before
    assert not RatingImport.objects.unfinished().exists()
    ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=1, by=case.owner)


@pytest.mark.parametrize(("parts", "undone_parts"), [(0, 0), (1, 0), (2, 0), (2, 1), (2, 2)])
def test_a_dead_import_is_undone(parts: int, undone_parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever it was killed, and if undoing it was killed as well."""
    case = make_case(2, {"query 1": {"a": 0, "b": 1}})
    ratings.rate(query=query_of(case, "query 1"), doc_id="b", value=2, by=case.owner, note="seen")
    judging.adjudicate(query=query_of(case, "query 1"), doc_id="a", value=2, by=case.owner)
    before = state()
    values = {
        "query 1": [("a", "", 1.0), ("b", "Ann", 3.0), ("b", "", 3.0)],
        "new": [("c", "Ann", 0.0), ("d", "", 1.0)],
    }
    kill_after(monkeypatch, case, parts, values, raters=("Ann",))
    assert RatingChange.objects.exclude(rating_import=None).count() == 2 * parts
    undo_some, done = imports._undo_some, []

    def die_after(record: RatingImport) -> bool:
        if len(done) == undone_parts:
            raise Killed
        done.append(1)
        return undo_some(record)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        in_parts(patch)
        patch.setattr(imports, "_undo_some", die_after)
        sweep_later()
    with pytest.raises(ratings.RatingRefused):
        ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=1, by=case.owner)
    revisions = dict(Query.objects.values_list("text", "revision"))
    assert sweep_later() == [case.book_id]
    assert state() == before
    record = RatingImport.objects.get()
    assert (record.status, record.error) == (
        "failed",
        "The process that imported the ratings has ended. Start the import again.",
    )
    assert ratings.sweep_imports() == []
    if parts > undone_parts:  # scores that were computed meanwhile are stale
        assert query_of(case, "query 1").revision > revisions["query 1"]
    assert import_all(case, values, raters=("Ann",)) == 5


def test_raters_and_queries_that_others_use_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(2)
    kill_after(monkeypatch, case, 1, RATERS, raters=("Ann", "Ben"))
    queries.add(case=case, texts=["new"])
    import_all(make_case(["other"]), {"other": [("a", "Ann", 1.0)]}, raters=("Ann",))
    sweep_later()
    assert [str(row) for row in case.case_queries.present()] == ["query 1", "query 2", "new"]
    assert set(User.objects.filter(kind=User.Kind.FILE).values_list("name", flat=True)) == {"Ann"}


def test_sweep_leaves_imports_that_make_progress() -> None:
    case = make_case(1)
    record = RatingImport.objects.create(book=case.book, case=case, by=case.owner)
    assert ratings.sweep_imports() == []
    assert RatingImport.objects.get() == record


def test_an_import_that_is_being_undone_does_not_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process was thought to be dead."""
    case = make_case(1, {"query 1": {"a": 0}})
    in_parts(monkeypatch)
    before = state()
    with pytest.raises(ratings.ImportFailed, match="stopped for minutes"):
        ratings.import_ratings(
            case=case,
            values=as_values({"query 1": dict.fromkeys("abcde", 1)}),
            total=5,
            rater=case.owner,
            by=case.owner,
            report=lambda record: sweep_later(),
        )
    assert state() == before


SCALE = [[0, ""], [1, ""], [2, ""], [3, ""], [4, ""]]
CHANGES: dict[str, Callable[[Case, Query], Any]] = {
    "rate": lambda case, query: ratings.rate(query=query, doc_id="a", value=1, by=case.owner),
    "remove": lambda case, query: ratings.remove(query=query, doc_ids=["a"], by=case.owner),
    "undo": lambda case, query: ratings.undo(case=case, by=case.owner),
    "judge": lambda case, query: judging.judge(query=query, doc_id="a", verdict=Verdict.CANNOT, by=case.owner),
    "adjudicate": lambda case, query: judging.adjudicate(query=query, doc_id="a", value=1, by=case.owner),
    "withdraw": lambda case, query: judging.withdraw_adjudication(query=query, doc_id="a", by=case.owner),
    "rate many": lambda case, query: rate_all(case, {"query 1": {"a": 1}}, case.owner),
    "import": lambda case, query: import_all(case, {"query 1": {"a": 1}}),
    "new grades": lambda case, query: remap(case),
    "scale": lambda case, query: set_scale(book=case.book, scale=SCALE),
    "rule": lambda case, query: set_rule(book=case.book, rule="mean"),
    "copy": lambda case, query: books.copy_book(
        book=case.book, name="Copy", settings=books.BookSettings.of(case.book), by=case.owner
    ),
    "merge": lambda case, query: books.merge_books(
        book=make_case(1, owner=case.owner).book, other=case.book, by=case.owner
    ),
    "remove all": lambda case, query: books.remove_ratings(book=case.book, rater=case.owner, by=case.owner),
    "delete": lambda case, query: cases.delete(case=case, by=case.owner, with_book=True),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("is_large", [False, True])
def test_nothing_changes_in_a_closed_book(name: str, is_large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(1, {"query 1": {"a": 3}})
    ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=2, by=case.owner)
    if is_large:
        in_parts(monkeypatch)
    RatingImport.objects.create(book=case.book, case=case, by=case.owner, total=100, done=43)
    before = state()
    with pytest.raises(ValidationError, match=r"^\W*Ratings are being imported into this book \(43 %\)\. "):
        CHANGES[name](case, query_of(case, "query 1"))
    assert state()[:2] == before[:2]
    assert Case.objects.filter(pk=case.pk, archived_at=None).exists()
    RatingImport.objects.update(status="complete")
    CHANGES[name](case, query_of(case, "query 1"))


def test_what_raters_are_told() -> None:
    case = make_case(1)
    RatingImport.objects.create(book=case.book, case=case, by=case.owner, total=100, done=43)
    with pytest.raises(ratings.RatingRefused) as refused:
        ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=1, by=case.owner)
    assert (
        str(refused.value) == "Ratings are being imported into this book (43 %). Rate again when the import has ended."
    )
    other = make_case(1)
    assert ratings.rate(query=query_of(other, "query 1"), doc_id="a", value=1, by=other.owner) == 1


@pytest.mark.django_db(transaction=True)
def test_others_can_write_between_any_two_transactions(monkeypatch: pytest.MonkeyPatch) -> None:
    """And no transaction writes more than a chunk, so that nobody waits for long; not when it is undone, either."""
    in_parts(monkeypatch, 10)
    case, other = make_case(4), make_case(1)
    query = query_of(other, "query 1")
    short_transaction = imports.short_transaction
    rows = [0]

    @contextmanager
    def rated_after() -> Iterator[None]:
        with short_transaction():
            yield
        assert not connection.in_atomic_block
        rows.append(Rating.objects.filter(query__book=case.book).count())
        ratings.rate(query=query, doc_id="theirs", value=len(rows) % 4, by=other.owner)

    monkeypatch.setattr(imports, "short_transaction", rated_after)
    values = {f"query {query}": {f"{number}": number % 4 for number in range(45)} for query in range(3)}
    assert import_all(case, values) == 135
    assert grades(case) == values
    assert {after - before for before, after in pairwise(rows)} == {0, 10, 5}
    rows[:] = [135]
    imports.undo_import(RatingImport.objects.get())
    assert rows == [135]  # it is complete
    RatingImport.objects.update(status="running")
    imports.undo_import(RatingImport.objects.get())
    assert {before - after for before, after in pairwise(rows)} == {0, 10, 5}
    assert grades(case) == {}


def test_an_import_whose_times_are_of_a_clock_that_was_wrong_is_undone() -> None:
    case = make_case(1)
    record = imports.begin_import(case=case, by=case.owner, total=1)
    RatingImport.objects.update(progressed_at=timezone.now() + timedelta(minutes=1))  # clocks of two machines differ
    assert (ratings.sweep_imports(), RatingImport.objects.get().status) == ([], "running")
    RatingImport.objects.update(progressed_at=timezone.now() + timedelta(hours=1))
    assert ratings.sweep_imports() == [case.book_id]
    record.refresh_from_db()
    assert record.status == "failed"


def test_an_import_that_waits_is_enqueued_again_and_begun_once(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(1)
    record = imports.begin_import(case=case, by=case.owner, total=1, status=imports.Status.WAITING)
    assert ratings.waiting_imports() == []
    RatingImport.objects.update(progressed_at=timezone.now() - timedelta(minutes=3))
    assert ratings.sweep_imports() == []
    sent: list[tuple[Any, int]] = []
    monkeypatch.setattr(tasks, "send", lambda task, pk, **options: sent.append((task, pk)))
    tasks.sweep()
    assert sent == [(tasks.import_ratings, record.pk)]
    assert ratings.claim_import(record.pk) == record
    assert ratings.claim_import(record.pk) is None
