"""Signs of life of workers."""

import os
from datetime import timedelta

import pytest
from django.utils import timezone

from relevancy import tasks
from relevancy.optional.background_work import workers
from relevancy.optional.background_work.models import WorkerProcess

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_rows", {})


def age(worker: WorkerProcess, **passed: float) -> None:
    WorkerProcess.objects.filter(pk=worker.pk).update(seen_at=timezone.now() - timedelta(**passed))
    worker.refresh_from_db()


def test_each_sweep_of_a_worker_is_a_sign_of_life() -> None:
    tasks.sweep()
    worker = WorkerProcess.objects.get()
    assert worker.pid == os.getpid()
    age(worker, seconds=50)
    assert not workers.is_silent(worker)
    age(worker, seconds=70)
    assert workers.is_silent(worker)
    tasks.sweep()
    worker.refresh_from_db()
    assert not workers.is_silent(worker)
    assert WorkerProcess.objects.count() == 1


def test_a_sign_of_life_is_one_statement(django_assert_num_queries) -> None:
    workers.record_sign_of_life()
    with django_assert_num_queries(1):
        workers.record_sign_of_life()


def test_a_worker_whose_row_is_gone_gets_another_one() -> None:
    workers.record_sign_of_life()
    WorkerProcess.objects.all().delete()
    workers.record_sign_of_life()
    assert WorkerProcess.objects.count() == 1


def test_a_process_that_was_forked_is_another_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    workers.record_sign_of_life()
    own = os.getpid()
    monkeypatch.setattr(workers.os, "getpid", lambda: 4711)
    workers.record_sign_of_life()
    assert set(WorkerProcess.objects.values_list("pid", flat=True)) == {own, 4711}


def test_workers_are_forgotten_after_a_day_without_a_sign() -> None:
    now = timezone.now()
    ended = WorkerProcess.objects.create(host="a", pid=1, started_at=now, seen_at=now)
    silent = WorkerProcess.objects.create(host="a", pid=2, started_at=now, seen_at=now)
    age(ended, hours=25)
    age(silent, hours=23)
    workers.record_sign_of_life()
    assert set(WorkerProcess.objects.values_list("pid", flat=True)) == {2, os.getpid()}
