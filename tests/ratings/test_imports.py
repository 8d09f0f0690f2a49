"""Imports of ratings: nobody sees a part of one, nobody waits for one, and what raters do meanwhile is kept in the right order."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.db.models import DO_NOTHING

from relevancy import accounts, books, cases, judging, queries, ratings, scores, tasks
from relevancy.models import (
    Book,
    Case,
    ImportedRating,
    JudgingPair,
    JudgingQueue,
    Query,
    Rating,
    RatingChange,
    RatingImport,
    User,
    Verdict,
    current_ratings,
    read_query_ratings,
)
from relevancy.ratings import imports
from relevancy.scoring.errors import ScoringError
from tests.factories import (
    as_values,
    make_attempt,
    make_case,
    make_user,
    query_of,
    rate_all,
    run_now,
    set_rule,
    set_scale,
)

pytestmark = pytest.mark.django_db
TEXTS = ["query 1", "query 2", "query 3"]


def import_all(case: Case, values: dict[str, dict[str, float]], by: User | None = None) -> int:
    """Imports ratings of the case's owner, or `by`, and adds the queries. Returns the number of changes."""
    by = by or case.owner
    changed, _ = ratings.import_ratings(
        book=case.book,
        values=as_values(values),
        rater=by,
        by=by,
        case=case,
        with_it=lambda ids: queries.add_prepared(case=case, query_ids=ids),
    )
    return changed


def grades(case: Case) -> dict[str, dict[str, float]]:
    """The grades that count, as scores see them."""
    texts = dict(case.book.queries.values_list("pk", "text"))
    return {texts[pk]: documents for pk, documents in scores.known_grades(case.book, texts).items() if documents}


def records(case: Case) -> dict[str, list[tuple[Any, ...]]]:
    """The ratings that pages show, without their ids."""
    return {
        query.text: sorted(
            (record.updated_at, record.doc_id, record.rater_name, record.verdict, record.value, record.note)
            for record in scores.QueryRatings.read(query.pk).records
        )
        for query in case.book.queries.all()
    }


def log_of(query: Query, doc_id: str) -> list[tuple[Any, ...]]:
    changes = RatingChange.objects.filter(query=query, doc_id=doc_id).order_by("id")
    return list(changes.values_list("source", "old_value", "new_value"))


def nothing_is_left() -> bool:
    return not RatingImport.objects.exists() and not ImportedRating.objects.exists()


class Killed(BaseException):
    """Ends a process in a test: nothing that follows is executed."""


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """`killed("write")` and so on: the context in which an import ends like one that was killed, after that step."""

    @contextmanager
    def kill(step: str) -> Iterator[None]:
        with monkeypatch.context() as patch:
            patch.setattr(imports, "discard", lambda record: None)
            if step == "write":
                patch.setattr(imports._ImportWriter, "apply", ends)
            else:
                patch.setattr(imports, "MOVED_AT_ONCE", -1)
                patch.setattr(imports, "move", ends)
            with pytest.raises(Killed):
                yield
        RatingImport.objects.update(progressed_at="2026-01-01T00:00Z")

    def ends(*arguments: Any) -> None:
        raise Killed

    return kill


def test_import_that_dies_before_it_counts_changes_nothing(killed: Any) -> None:
    case = make_case(2, {"query 1": {"a": 1}})
    before = grades(case), records(case), [*Query.objects.values_list("text", "revision")]
    with killed("write"):
        import_all(case, {"query 1": {"a": 3, "b": 2}, "new": {"c": 1}})
    assert ImportedRating.objects.count() == 3
    assert (grades(case), {**records(case)} | {"new": []}) == (before[0], before[1] | {"new": []})
    assert [*case.book.queries.live().values_list("text", "revision")] == before[2]
    assert [str(case_query) for case_query in case.case_queries.present()] == ["query 1", "query 2"]
    assert RatingChange.objects.count() == 1


def test_sweep_deletes_what_a_dead_import_has_written(killed: Any) -> None:
    case = make_case(2, {"query 1": {"a": 1}})
    with killed("write"):
        import_all(case, {"query 1": {"a": 3}, "new": {"c": 1}, "only named": {}})
    assert ratings.sweep_imports() == []
    assert nothing_is_left()
    assert {*Query.objects.values_list("text", flat=True)} == {"query 1", "query 2"}
    assert grades(case) == {"query 1": {"a": 1}}


def test_sweep_leaves_imports_that_make_progress() -> None:
    case = make_case(1)
    RatingImport.objects.create(book=case.book, by=case.owner, source="import", progressed_at=case.created_at)
    ratings.sweep_imports()
    assert RatingImport.objects.count() == 1


def test_import_that_dies_after_it_counts_is_seen_whole(killed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(2, {"query 1": {"a": 1, "b": 1}})
    rate_all(case, {"query 1": {"a": 0}}, make_user("Other"))
    with killed("move"):
        import_all(case, {"query 1": {"a": 3, "b": 1}, "new": {"c": 2}})
    assert Rating.objects.count() == 3
    seen = grades(case), records(case)
    assert seen[0] == {"query 1": {"a": 3, "b": 1}, "new": {"c": 2}}
    assert [str(case_query) for case_query in case.case_queries.present()] == ["query 1", "query 2", "new"]
    with pytest.raises((ratings.InvalidRating, Exception), match="rated 3"):
        set_scale(book=case.book, scale=[[0, ""], [1, ""], [2, ""]])
    enqueued: list[int] = []
    monkeypatch.setattr(tasks, "enqueue_book_rescore", enqueued.append)
    tasks.sweep()
    assert enqueued == [case.book_id]
    assert nothing_is_left()
    assert (grades(case), records(case)) == seen
    assert log_of(query_of(case, "query 1"), "a")[-1] == ("import", 1, 3)
    assert RatingChange.objects.filter(source="import", new_value__in=[2, 3]).count() == 2


@pytest.mark.parametrize("seed", range(6))
def test_nothing_changes_when_imported_ratings_are_moved(seed: int, killed: Any) -> None:
    chance = random.Random(seed)
    case = make_case(TEXTS)
    set_rule(book=case.book, rule=["latest", "mean", "median", "majority", "lowest_of_three", "latest"][seed])
    raters = [case.owner, make_user(), make_user()]
    for rater in raters * 2:
        rate_all(case, {text: {chance.choice("abcd"): chance.randint(0, 3)} for text in TEXTS}, rater)
    values = {text: {doc_id: chance.randint(0, 3) for doc_id in "abce"} for text in TEXTS}
    with killed("move"):
        import_all(case, values, by=raters[seed % 3])
    before = grades(case), records(case)
    revisions = [*Query.objects.values_list("revision", flat=True)]
    ratings.sweep_imports()
    assert (grades(case), records(case)) == before
    assert [*Query.objects.values_list("revision", flat=True)] == revisions


def test_ratings_of_one_query_are_those_of_the_general_statement(killed: Any) -> None:
    case = make_case(2, {"query 1": {"a": 1, "b": 1}})
    rate_all(case, {"query 1": {"a": 0, "d": 2}}, make_user("Other"))
    with killed("write"):
        import_all(case, {"query 1": {"d": 0}}, by=make_user())
    with killed("move"):
        import_all(case, {"query 1": {"a": 3, "c": 2}, "query 2": {"a": 1}})
    query = query_of(case, "query 1")
    columns = (
        "id",
        "query_id",
        "doc_id",
        "rater_id",
        "rater__name",
        "rater__email",
        "verdict",
        "value",
        "note",
        "updated_at",
    )
    rows = sorted(read_query_ratings(query.pk))
    assert rows == sorted(current_ratings((*columns, "is_adjudication"), query_id=query.pk))
    assert [row[0] < 0 for row in rows].count(True) == 2
    assert [type(value) for value in rows[0][-2:]] == [datetime, bool]


def test_ratings_and_undo_before_the_import_is_moved(killed: Any) -> None:
    case = make_case(1, {"query 1": {"a": 1}})
    query = query_of(case, "query 1")
    with killed("move"):
        import_all(case, {"query 1": {"a": 3, "b": 2}})
    ratings.rate(query=query, doc_id="a", value=0, by=case.owner)
    assert grades(case) == {"query 1": {"a": 0, "b": 2}}
    ratings.undo(case=case, by=case.owner)
    assert grades(case) == {"query 1": {"a": 3, "b": 2}}
    ratings.remove(query=query, doc_ids=["b"], by=case.owner)
    ratings.sweep_imports()
    assert grades(case) == {"query 1": {"a": 3}}
    assert log_of(query, "a")[1:] == [("import", 1, 3), ("page", 3, 0), ("undo", 0, 3)]
    assert log_of(query, "b") == [("import", None, 2), ("page", 2, None)]


def test_rating_during_an_import_is_replaced_and_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(2, {"query 1": {"a": 1}})
    query = query_of(case, "query 1")
    apply = imports._ImportWriter.apply

    def rate_first(*arguments: Any) -> Any:
        ratings.rate(query=query, doc_id="a", value=3, by=case.owner, note="seen")
        ratings.rate(query=query, doc_id="b", value=2, by=case.owner)
        return apply(*arguments)

    monkeypatch.setattr(imports._ImportWriter, "apply", rate_first)
    # "a" was the same when it was compared, "b" is the same now.
    assert import_all(case, {"query 1": {"a": 1, "b": 2}, "query 2": {"c": 1}}) == 2
    assert grades(case) == {"query 1": {"a": 1, "b": 2}, "query 2": {"c": 1}}
    assert Rating.objects.get(doc_id="a").note == "seen"
    assert log_of(query, "a")[-2:] == [("page", 1, 3), ("import", 3, 1)]
    assert log_of(query, "b") == [("page", None, 2)]
    # The import has replaced the rating, so taking it back would lose the import.
    undone = ratings.undo(case=case, by=case.owner, change=RatingChange.objects.get(new_value=3))
    assert undone is not None and list(undone.kept) == ["a"]


def test_more_ratings_than_fit_into_the_last_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "MAX_REPEATED", 1)
    case = make_case(TEXTS)
    apply = imports._ImportWriter.apply

    def rate_first(*arguments: Any) -> Any:
        rate_all(case, {text: {"a": 3} for text in TEXTS}, case.owner)
        return apply(*arguments)

    monkeypatch.setattr(imports._ImportWriter, "apply", rate_first)
    assert import_all(case, {text: {"a": 1, "b": 3} for text in TEXTS}) == 6
    assert grades(case) == {text: {"a": 1, "b": 3} for text in TEXTS}
    assert nothing_is_left()


def test_revision_rises_once_and_only_where_ratings_change() -> None:
    case = make_case(2, {"query 1": {"a": 1}, "query 2": {"a": 1}})
    before = dict(Query.objects.values_list("text", "revision"))
    assert import_all(case, {"query 1": {"a": 1}, "query 2": {"a": 2, "b": 1}}) == 2
    assert dict(Query.objects.values_list("text", "revision")) == before | {"query 2": before["query 2"] + 1}


def test_a_small_import_is_moved_by_the_transaction_that_applies_it(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(1)
    apply = imports._ImportWriter.apply
    left: list[int] = []

    def look_after(*arguments: Any) -> Any:
        result = apply(*arguments)
        left.append(ImportedRating.objects.count())
        return result

    monkeypatch.setattr(imports._ImportWriter, "apply", look_after)
    assert import_all(case, {"query 1": {"a": 1, "b": 2}}) == 2
    assert left == [0]
    assert Rating.objects.count() == 2


def test_counts_are_the_same_before_and_after_ratings_are_moved(killed: Any) -> None:
    case = make_case(2, {"query 1": {"a": 1, "b": 1}})
    rater, query = make_user("Rater"), query_of(case, "query 1")
    rate_all(case, {"query 1": {"a": 0}}, rater)
    judging.judge(query=query, doc_id="b", verdict=Verdict.CANNOT, by=rater)
    judging.judge(query=query, doc_id="c", verdict=Verdict.LATER, by=rater)
    with killed("move"):
        import_all(case, {"query 1": {"a": 3, "b": 2, "c": 1, "d": 2}, "new": {"c": 2}}, by=rater)

    def counts() -> Any:
        return (
            [(row.rater, row.rated, row.cannot, row.last) for row in books.count_by_rater(case.book)],
            [(row.value, row.count, row.share) for row in books.count_by_grade(case.book)],
            list(books.queries_with_coverage(case.book).values_list("text", "rated")),
            cases.losses(case=case, by=case.owner).ratings,
        )

    before = counts()
    assert before[1][1][1] == 3  # three ratings of 1: two by the owner, one imported
    assert before[2] == [("query 1", 4), ("query 2", 0), ("new", 1)]
    assert before[3] == 7
    ratings.sweep_imports()
    assert counts() == before


@pytest.mark.usefixtures("script")
def test_judging_leaves_out_what_was_imported_and_not_moved(killed: Any) -> None:
    case = make_case(1)
    run = run_now(make_attempt(case))
    rater, query = make_user(), query_of(case, "query 1")
    queue = JudgingQueue.objects.create(book=case.book, ratings_per_pair=2, run_ids=[run.pk], pair_count=3)
    for number, doc_id in enumerate("abc"):
        JudgingPair.objects.create(queue=queue, query=query, doc_id=doc_id, run=run, rank=1, key=number)
    judging.judge(query=query, doc_id="b", verdict=Verdict.LATER, by=rater)
    assert [pair.doc_id for pair in judging.next_pairs(queue=queue, by=rater)] == ["a", "c"]  # both are claimed
    with killed("move"):
        import_all(case, {"query 1": {"a": 3, "b": 2}}, by=rater)

    def left() -> Any:
        pairs = judging.next_pairs(queue=queue, by=rater)
        return [pair.doc_id for pair in pairs], judging.judging_progress(queue=queue, by=rater)

    before = left()
    assert before[0] == ["c"]
    assert (before[1].left, before[1].postponed) == (1, 0)
    assert judging.last_judged(book=case.book, by=rater) == []
    ratings.sweep_imports()
    assert left() == before
    assert set(queue.pairs.values_list("doc_id", "level")) == {("a", 1), ("b", 1), ("c", 0)}


def test_ratings_that_stay_the_same_keep_their_time() -> None:
    case = make_case(1, {"query 1": {"a": 1, "b": 1}})
    before = Rating.objects.values().get(doc_id="a")
    import_all(case, {"query 1": {"a": 1, "b": 2}})
    assert Rating.objects.values().get(doc_id="a") == before
    assert Rating.objects.get(doc_id="b").updated_at > before["updated_at"]


def test_failure_of_what_belongs_to_the_import_undoes_it() -> None:
    case = make_case(1)

    def fail(query_ids: Any) -> None:
        raise ScoringError("no")

    with pytest.raises(ScoringError):
        ratings.import_ratings(
            book=case.book, values=as_values({"new": {"a": 1}}), rater=case.owner, by=case.owner, with_it=fail
        )
    assert nothing_is_left()
    assert not Rating.objects.exists() and not Query.objects.filter(text="new").exists()


def test_import_of_a_new_book_that_dies_leaves_no_book(killed: Any) -> None:
    other = make_case(1)
    book = Book(name="New", owner=other.owner, scale=[[0, ""], [1, ""]], relevant_from=1)
    with killed("write"):
        ratings.import_ratings(
            book=book, values=as_values({"new": {"a": 1}}), rater=other.owner, by=other.owner, with_it=len
        )
    assert Book.objects.count() == 2
    ratings.sweep_imports()
    assert list(Book.objects.all()) == [other.book]


def change_scale(case: Case) -> None:
    set_scale(book=Book.objects.get(pk=case.book_id), scale=[[0, ""], [1, ""], [2, ""]])


def rename(case: Case) -> None:
    queries.edit(case_query=case.case_queries.get(query__text="query 1"), text="renamed")


def delete_case(case: Case) -> None:
    cases.delete(case=Case.objects.get(pk=case.pk), by=case.owner)


def delete_book(case: Case) -> None:
    cases.delete(case=Case.objects.get(pk=case.pk), by=case.owner, with_book=True)


def discard(case: Case) -> None:
    imports.discard(RatingImport.objects.get())


@pytest.mark.parametrize(
    ("meanwhile", "message"),
    [
        (change_scale, "3 is not on it"),
        (rename, "“query 1” was renamed"),
        (discard, "deleted"),
        (delete_case, "was deleted"),
        (delete_book, "was deleted"),
    ],
)
def test_changes_that_an_import_cannot_survive(
    meanwhile: Callable[[Case], None], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = make_case(2)
    apply = imports._ImportWriter.apply

    def change_first(*arguments: Any) -> Any:
        meanwhile(case)
        return apply(*arguments)

    monkeypatch.setattr(imports._ImportWriter, "apply", change_first)
    with pytest.raises(ratings.ImportFailed, match=message):
        import_all(case, {"query 1": {"a": 3}, "query 2": {"a": 3}})
    assert nothing_is_left()
    assert not Rating.objects.exists()


RATERS = {"query 1": [("a", "Ann", 3.0), ("a", "", 1.0), ("b", "Ben", 2.0)], "new": [("c", "Ann", 0.0)]}


def import_raters(case: Case) -> int:
    """Imports the ratings of the owner and of two raters who are new."""
    return ratings.import_ratings(
        book=case.book,
        values=RATERS,
        rater=case.owner,
        raters=["Ann", "Ben"],
        by=case.owner,
        case=case,
        with_it=lambda ids: queries.add_prepared(case=case, query_ids=ids),
    )[0]


def test_ratings_of_several_raters_are_one_import(killed: Any) -> None:
    case = make_case(2, {"query 1": {"a": 0}})
    with killed("move"):
        import_raters(case)
    before = grades(case), records(case), [str(rater) for rater in books.raters_of(case.book)]
    assert before[2] == ["Ann", "Ben", str(case.owner)]
    assert {(record[1], record[2], record[4]) for record in before[1]["query 1"]} == {
        ("a", "Ann", 3),
        ("a", str(case.owner), 1),
        ("b", "Ben", 2),
    }
    ratings.sweep_imports()
    assert nothing_is_left()
    assert (grades(case), records(case), [str(rater) for rater in books.raters_of(case.book)]) == before
    assert log_of(query_of(case, "query 1"), "a")[1:] == [("import", None, 3), ("import", 0, 1)]
    assert import_raters(case) == 0


def test_raters_of_an_import_that_died_are_deleted_if_they_have_rated_nothing(killed: Any) -> None:
    case = make_case(2)
    accounts.ensure_raters(["Ben"], by=case.owner)
    with killed("write"):
        import_raters(case)
    ann = User.objects.get(name="Ann")
    with killed("move"):  # another import has a rating by the rater that the first one has created
        ratings.import_ratings(
            book=make_case(["other"]).book,
            values={"other": [("a", "Ann", 1.0)]},
            rater=case.owner,
            raters=["Ann"],
            by=case.owner,
            with_it=len,
        )
    with killed("write"):
        ratings.import_ratings(
            book=case.book, values=as_values({}), rater=ann, raters=["Carl"], by=case.owner, with_it=len
        )
    imports.discard(RatingImport.objects.first())
    assert set(User.objects.filter(kind=User.Kind.FILE).values_list("name", flat=True)) == {"Ann", "Ben", "Carl"}
    ratings.sweep_imports()
    assert set(User.objects.filter(kind=User.Kind.FILE).values_list("name", flat=True)) == {"Ann", "Ben"}


def test_import_fails_if_a_rater_is_deleted_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(2)
    apply = imports._ImportWriter.apply

    def delete_first(*arguments: Any) -> Any:
        User.objects.filter(name="Ben").delete()
        return apply(*arguments)

    monkeypatch.setattr(imports._ImportWriter, "apply", delete_first)
    monkeypatch.setattr(ImportedRating._meta.get_field("rater").remote_field, "on_delete", DO_NOTHING)
    with pytest.raises(ratings.ImportFailed, match="A rater was deleted"):
        import_raters(case)
    assert nothing_is_left()
    assert not Rating.objects.exists()


def test_two_imports_one_after_the_other(killed: Any) -> None:
    case = make_case(1, {"query 1": {"a": 1}})
    with killed("move"):
        import_all(case, {"query 1": {"a": 2, "b": 2}})
    RatingImport.objects.update(progressed_at=RatingImport.objects.get().applied_at + timedelta(days=36500))
    assert import_all(case, {"query 1": {"a": 3, "b": 2}}) == 1
    assert nothing_is_left()
    assert grades(case) == {"query 1": {"a": 3, "b": 2}}
    assert log_of(query_of(case, "query 1"), "a")[1:] == [("import", 1, 2), ("import", 2, 3)]


@pytest.mark.django_db(transaction=True)
def test_others_can_write_between_any_two_transactions(monkeypatch: pytest.MonkeyPatch) -> None:
    """And no transaction writes more than a chunk, so that nobody waits for long."""
    monkeypatch.setattr(imports, "CHUNK", 10)
    monkeypatch.setattr(imports, "MOVED_AT_ONCE", 10)
    monkeypatch.setattr(scores, "PAUSE_SECONDS", 0)
    case = make_case(4)
    other, query = make_user(), query_of(case, "query 4")
    short_transaction = imports.short_transaction
    rows = [Rating.objects.count() + ImportedRating.objects.count()]
    seen = []

    @contextmanager
    def rated_after() -> Iterator[None]:
        with short_transaction():
            yield
        if connection.in_atomic_block:
            return  # a part of the transaction that applies the import
        rows.append(Rating.objects.exclude(rater=other).count() + 2 * ImportedRating.objects.count())
        ratings.rate(query=query, doc_id="theirs", value=len(rows) % 4, by=other)
        seen.append(len(grades(case).get("query 2", {})))

    monkeypatch.setattr(imports, "short_transaction", rated_after)
    values = {text: {f"{text} {number}": number % 4 for number in range(45)} for text in TEXTS}
    assert import_all(case, values) == 135
    assert max(abs(after - before) for before, after in pairwise(rows)) <= 20
    assert len(rows) > 2 * 135 / 10
    assert {*seen} == {0, 45}  # all ratings of a query, or none
    assert {text: grades(case)[text] for text in TEXTS} == values
    assert RatingChange.objects.filter(source="import").count() == 135
