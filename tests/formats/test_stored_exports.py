"""Large files are made by a worker, once for each user, and deleted a day later."""

import errno
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from relevancy.formats import exports, progress, stored_exports
from relevancy.models import Activity, Book, Case, Run, StoredExport
from tests.factories import make_attempt, make_case, make_user, run_now

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script", "data_dir")]
Status = StoredExport.Status


@pytest.fixture
def case(monkeypatch: pytest.MonkeyPatch) -> Case:
    monkeypatch.setattr(exports, "MAX_ROWS", 1)
    monkeypatch.setattr(stored_exports, "NOTE_SECONDS", 0)
    return make_case(3, {"query 1": {"a": 3, "b": 1}})


def ask(row: Case | Run | Book, name: str = "ratings", **more: Any) -> StoredExport:
    by = more.pop("by", None) or (row.case if isinstance(row, Run) else row).owner
    return stored_exports.ask(row=row, name=name, by=by, **more)[0]


def names() -> list[str]:
    return sorted(path.name for path in stored_exports.folder().iterdir())


def path(record: StoredExport) -> Path:
    record.refresh_from_db()
    return stored_exports.path_of(record)


def age(record: StoredExport, **time: float) -> None:
    StoredExport.objects.filter(pk=record.pk).update(progressed_at=timezone.now() - timedelta(**time))


def test_a_file_is_large_by_its_ratings_and_results_or_its_queries(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    of_case, of_book, of_run = exports.files_of(Case), exports.files_of(Book), exports.files_of(Run)
    run = run_now(make_attempt(case))
    run.rows = 2
    Run.objects.filter(pk=run.pk).update(rows=2)

    def large(limit: int) -> dict[str, bool]:
        monkeypatch.setattr(exports, "MAX_ROWS", limit)
        files = [(of_case[name], name, case) for name in ("case", "ratings", "queries", "snapshots")]
        found = {name: export.is_large(row) for export, name, row in files}
        return {**found, "book": of_book["book"].is_large(case.book), "run": of_run["trec"].is_large(run)}

    assert not any(large(8).values())  # 2 ratings, and 6 results of the newest run
    assert [name for name, is_large in large(7).items() if is_large] == ["case", "snapshots"]
    assert [name for name, is_large in large(5).items() if is_large] == ["case", "snapshots", "run"]
    assert [name for name, is_large in large(2).items() if not is_large] == ["ratings", "book"]
    assert all(large(1).values())


def test_a_file_that_a_worker_makes_is_the_one_that_a_page_downloads(case: Case) -> None:
    run = run_now(make_attempt(case))
    for row, name in ((case, "case"), (case.book, "book"), (run, "trec")):
        record = ask(row, name)
        stored_exports.make(record.pk)
        record.refresh_from_db()
        assert (record.status, record.error, record.percent) == (Status.COMPLETE, "", 100)
        with exports.files_of(type(row))[name].open(row, record.by) as file:
            assert stored_exports.path_of(record).read_bytes() == file.read()
    assert len(names()) == 3
    assert Activity.objects.filter(verb=Activity.Verb.FILE_EXPORTED).count() == 6


def test_asking_twice_makes_one_and_asking_again_makes_it_anew(case: Case) -> None:
    record, is_new = stored_exports.ask(row=case, name="ratings", by=case.owner)
    assert (is_new, record.status) == (True, Status.WAITING)
    assert stored_exports.ask(row=case, name="ratings", by=case.owner) == (record, False)
    assert stored_exports.ask(row=case, name="ratings", by=case.owner, again=True) == (record, False)
    stored_exports.make(record.pk)
    stored_exports.make(record.pk)  # a task may be delivered twice
    assert Activity.objects.filter(verb=Activity.Verb.FILE_EXPORTED).count() == 1
    complete, is_new = stored_exports.ask(row=case, name="ratings", by=case.owner)
    assert (is_new, complete.status) == (False, Status.COMPLETE)
    former = path(record)
    again, is_new = stored_exports.ask(row=case, name="ratings", by=case.owner, again=True)
    assert (is_new, again.pk, again.status, again.done) == (True, record.pk, Status.WAITING, 0)
    stored_exports.make(record.pk)
    assert path(record) != former
    assert names() == [path(record).name]
    assert StoredExport.objects.count() == 1


def test_each_user_and_each_file_has_one_of_its_own(case: Case) -> None:
    records = {ask(case), ask(case, "qrels"), ask(case.book), ask(case, by=make_user())}
    assert len({record.pk for record in records}) == 4


def test_a_file_is_of_one_thing(case: Case) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        StoredExport.objects.create(
            case=case, book=case.book, name="case", by=case.owner, key="k", progressed_at=timezone.now()
        )


def test_a_file_that_is_lost_is_made_again(case: Case) -> None:
    record = ask(case)
    stored_exports.make(record.pk)
    path(record).unlink()
    lost, is_new = stored_exports.ask(row=case, name="ratings", by=case.owner)
    assert (is_new, lost.status) == (True, Status.WAITING)


def test_progress_is_noted_while_the_file_is_made(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, int, int, list[str]]] = []
    record = ask(case, "queries")

    def write(row: Case, by: Any) -> Any:
        for _ in range(3):
            progress.count_read(1)
            noted = StoredExport.objects.get(pk=record.pk)
            seen.append((noted.status, noted.done, noted.total, names()))
            yield "a part\n"

    monkeypatch.setitem(
        exports._OF_CASE, "queries", exports.Export(".csv", exports.CSV, "Queries", "", write, exports.QUERIES)
    )
    stored_exports.make(record.pk)
    assert [(status, done, total) for status, done, total, _ in seen] == [
        (Status.RUNNING, done, 3) for done in (1, 2, 3)
    ]
    assert all(len(files) == 1 and files[0].endswith(".partial") for *_, files in seen)
    assert names() == [path(record).name]


@pytest.mark.django_db(transaction=True)
def test_progress_of_a_whole_case_is_noted_apart_from_its_transaction(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On PostgreSQL the case is read in a transaction that may write nothing."""
    apart: list[int] = []
    note = stored_exports._note_apart

    def note_apart(record: StoredExport, done: int) -> bool:
        apart.append(done)
        return note(record, done)

    monkeypatch.setattr(stored_exports, "_note_apart", note_apart)
    record = ask(case, "case")
    stored_exports.make(record.pk)
    record.refresh_from_db()
    assert (record.status, record.error, record.done) == (Status.COMPLETE, "", 6)
    assert bool(apart) == (connection.vendor == "postgresql")


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "The file could not be written: No space left on device."),
        (RuntimeError("secret detail"), "The file could not be made because of an unexpected error"),
    ],
)
def test_a_file_that_fails_says_why_and_can_be_made_again(
    case: Case, monkeypatch: pytest.MonkeyPatch, error: Exception, shown: str
) -> None:
    def fail(done: int) -> None:
        raise error

    record = ask(case)
    with monkeypatch.context() as patched:
        patched.setattr(stored_exports, "_note_progress", lambda record: fail)
        stored_exports.make(record.pk)
    record.refresh_from_db()
    assert record.status == Status.FAILED
    assert record.error.startswith(shown)
    assert names() == []
    assert stored_exports.ask(row=case, name="ratings", by=case.owner) == (record, False)
    stored_exports.make(ask(case, again=True).pk)
    assert names() == [path(record).name]


def test_the_file_of_a_killed_worker_is_made_by_another_one(case: Case) -> None:
    record = ask(case)
    killed = stored_exports._claim(record.pk)
    assert killed is not None
    partial = stored_exports.folder() / f"{record.pk}-{killed.claimed_by}.partial"
    partial.parent.mkdir()
    partial.write_text("a part of")
    assert stored_exports.sweep() == []  # it may live
    age(record, minutes=3)
    assert stored_exports.sweep() == [record.pk]
    assert stored_exports.sweep() == []  # it is told once in two minutes
    stored_exports.make(record.pk)
    record.refresh_from_db()
    assert (record.status, record.worker_restarts, names()) == (Status.COMPLETE, 1, [path(record).name])
    with pytest.raises(stored_exports._TakenOver):  # the worker was not dead after all
        stored_exports._note_progress(killed)(1)


def test_a_file_that_kills_its_workers_fails_in_the_end(case: Case) -> None:
    record = ask(case)
    for _ in range(stored_exports.MAX_RESTARTS + 1):
        assert stored_exports._claim(record.pk)
        age(record, minutes=3)
        stored_exports.sweep()
    record.refresh_from_db()
    assert (record.status, record.error) == (Status.FAILED, stored_exports.LOST)


def test_a_task_that_was_lost_is_sent_again(case: Case) -> None:
    record = ask(case)
    assert stored_exports.sweep() == []
    age(record, minutes=-30)  # of a clock that was wrong
    assert stored_exports.sweep() == [record.pk]
    assert StoredExport.objects.get().worker_restarts == 0


def test_files_are_deleted_after_a_day_and_with_what_they_are_of(case: Case) -> None:
    old, kept, deleted = ask(case), ask(case, "qrels"), ask(make_case(1), "qrels")
    for record in (old, kept, deleted):
        stored_exports.make(record.pk)
    age(old, hours=25)
    age(kept, hours=23)
    assert deleted.case is not None
    Case.objects.filter(pk=deleted.case.pk).delete()
    assert len(names()) == 3
    assert stored_exports.sweep() == []
    assert names() == [path(kept).name]
    assert list(StoredExport.objects.values_list("pk", flat=True)) == [kept.pk]


def test_a_sweep_with_nothing_to_do_reads_once(case: Case, django_assert_num_queries: Any) -> None:
    stored_exports.make(ask(case).pk)
    with django_assert_num_queries(1):
        stored_exports.sweep()


def test_a_file_whose_case_is_deleted_meanwhile_is_not_kept(
    case: Case, monkeypatch: pytest.MonkeyPatch, data_dir: Path
) -> None:
    record = ask(case, "queries")

    def write(row: Case, by: Any) -> Any:
        StoredExport.objects.filter(pk=record.pk).delete()
        progress.count_read(1)
        yield "a part\n"

    monkeypatch.setitem(
        exports._OF_CASE, "queries", exports.Export(".csv", exports.CSV, "Queries", "", write, exports.QUERIES)
    )
    stored_exports.make(record.pk)
    assert names() == []
    assert data_dir in stored_exports.folder().parents
