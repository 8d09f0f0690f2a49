"""Runs that are cut into parts: shared among workers, with the same results, within the limits of their endpoint."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from relevancy import engines, queries, runs, scores
from relevancy.formats.rankings.run_csv import export_run
from relevancy.models import Attempt, CaseScore, Endpoint, QueryScore, Run
from relevancy.runs import claims, parts
from relevancy.runs.claims import Claim
from tests.factories import make_attempt, make_case, script_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
DOWN = engines.EndpointUnreachable("Nothing answered.")
WRONG = engines.BadQuery("No such parser.")


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PART_QUERIES", 3)


def start(attempt: Attempt) -> Run:
    return runs.start(attempt=attempt, by=attempt.created_by)


def bounds(run: Run) -> list[tuple[int, int]]:
    """The numbers of the first and the last query of each part, counted from 0."""
    ids = list(run.case.case_queries.order_by("pk").values_list("pk", flat=True))
    return [(ids.index(part.first), ids.index(part.last)) for part in run.parts.all()]


def claim(run: Run) -> Claim:
    claimed = claims.claim(run.pk)
    assert claimed is not None
    return claimed


def test_parts_are_ranges_of_the_queries_that_have_to_be_searched() -> None:
    case = make_case(8)
    attempt = make_attempt(case)
    queries.remove(case_query=case.case_queries.get(query__text="query 2"))
    run = start(attempt)
    assert bounds(run) == [(0, 3), (4, 6), (7, 7)]


def test_complete_cuts_what_is_left() -> None:
    case = make_case(9)
    attempt = make_attempt(case)
    script = script_of(attempt)
    for number in (2, 5, 8, 9):
        script.answers[f"query {number}"] = WRONG
    run = runs.finish_here(start(attempt))
    assert (run.status, run.done, run.failed, run.parts.count()) == ("incomplete", 9, 4, 0)
    script.answers.clear()
    script.requests.clear()
    run = runs.complete(run=run, by=case.owner)
    assert bounds(run) == [(1, 7), (8, 8)]
    assert (run.done, run.done_before) == (5, 5)
    assert runs.finish_here(run).status == "complete"
    assert sorted(script.texts) == ["query 2", "query 5", "query 8", "query 9"]


def test_no_statement_reads_more_queries_than_those_of_the_part(django_assert_max_num_queries: Any) -> None:
    attempt = make_attempt(make_case(9))
    run = start(attempt)
    locks = connection.features.has_select_for_update  # of the endpoint
    with django_assert_max_num_queries(46 + locks) as captured:
        runs.continue_run(run.pk)
    of_queries = [query["sql"] for query in captured if 'FROM "relevancy_casequery"' in query["sql"]]
    assert of_queries
    assert all(" BETWEEN " in sql for sql in of_queries)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL chooses indexes by the size of tables.")
def test_sqlite_reads_the_queries_of_a_part_and_no_others() -> None:
    """Without the index on the case alone, it reads all queries of the case for each part."""
    run = start(make_attempt(make_case(9)))
    with CaptureQueriesContext(connection) as captured:
        assert len(parts.unsearched_of_part(run, run.parts.first())) == 3
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {captured[1]['sql']}")
        plan = [row[-1] for row in cursor.fetchall()]
    assert any("(case_id=? AND rowid>? AND rowid<?)" in step for step in plan), plan


ORDERS: dict[str, Callable[[list[int]], list[int]]] = {
    "forwards": lambda order: order,
    "backwards": lambda order: order[::-1],
    "mixed": lambda order: order[1::2] + order[::2],
}


def results_of(run: Run) -> tuple[Any, ...]:
    """Everything that is read from a run, without ids and times."""
    names = [field.name for field in QueryScore._meta.fields if field.name not in ("pk", "run")]
    case_names = ("score", "low", "high", "scored", "queries", "unrated", "failed")
    return (
        run.status, run.reason, run.done, run.failed, run.version,
        [line.split(",", 3)[3] for line in "".join(export_run(run=run)).splitlines()],  # without the run and its time
        sorted(run.query_scores.values_list(*names), key=str),
        list(CaseScore.objects.filter(run=run).order_by("version").values_list(*case_names)),
    )  # fmt: skip


def test_results_are_the_same_in_any_order_of_parts() -> None:
    rated = {f"query {n}": {"a": n % 4, "c": (n + 1) % 4} for n in range(1, 12)}
    case = make_case(14, rated, measures=["nDCG@10", "P@5", "RR@10"])
    attempt = make_attempt(case)
    script_of(attempt).answers = {"query 13": WRONG, "query 4": engines.BadQuery("Another one."), "query 2": ()}
    results = []
    for order in ORDERS.values():
        run = start(attempt)
        pks = order([part.pk for part in run.parts.all()])
        assert len(pks) == 5
        for pk in pks:
            others = run.parts.exclude(pk=pk)
            others.update(worker_restarts=claims.MAX_WORKER_RESTARTS)  # no worker takes them
            runs.continue_run(run.pk)
            others.update(worker_restarts=0)
        run.refresh_from_db()
        results.append(results_of(run))
    assert results[0][:4] == ("incomplete", "2 of 14 searches failed. First error: Another one.", 14, 2)
    assert results[0] == results[1] == results[2]


def test_workers_share_the_requests_of_an_endpoint(settings: Any) -> None:
    settings.WORKER_REQUESTS = 2
    attempt = make_attempt(make_case(12))
    Endpoint.objects.update(engine="solr", parallel=5)
    run = start(attempt)
    claimed = [claim(run) for _ in range(3)]
    assert [each.part.slots for each in claimed] == [2, 2, 1]
    assert [each.has_more for each in claimed] == [True, True, False]
    assert claims.claim(run.pk) is None
    claims.release(claimed[1].part, connection_failures=0)
    assert claim(run).part.slots == 2


def test_an_engine_on_this_server_gets_one_worker_for_each_request() -> None:
    attempt = make_attempt(make_case(12))
    Endpoint.objects.update(parallel=2)
    run = start(attempt)
    assert [claim(run).part.slots for _ in range(2)] == [1, 1]
    assert claims.claim(run.pk) is None


def test_two_runs_on_one_endpoint_share_it(settings: Any) -> None:
    settings.WORKER_REQUESTS = 8
    first = make_attempt(make_case(9))
    second = make_attempt(make_case(9, owner=first.created_by), first.endpoint)
    Endpoint.objects.filter(pk=first.endpoint_id).update(engine="solr", parallel=8)
    one, other = start(first), start(second)
    alone = claim(one)
    assert alone.part.slots == 8
    assert claims.claim(other.pk) is None
    assert claims.waiting_behind(one) == [other.pk]
    claims.release(alone.part, connection_failures=0)
    assert claim(one).part.slots == 4
    assert claim(other).part.slots == 4
    assert claims.claim(one.pk) is None
    assert claims.claim(other.pk) is None


def test_runs_of_an_endpoint_for_one_request_take_turns() -> None:
    first = make_attempt(make_case(6))
    all_runs = [start(first)]
    for _ in range(2):
        all_runs.append(start(make_attempt(make_case(6, owner=first.created_by), first.endpoint)))
    Endpoint.objects.update(parallel=1)
    queue, served = [run.pk for run in all_runs], []
    while queue:
        pk = queue.pop(0)
        done = Run.objects.get(pk=pk).done
        result = runs.continue_run(pk, limit=2)
        if Run.objects.get(pk=pk).done > done:
            served.append(all_runs.index(Run.objects.get(pk=pk)))
        for waiting in result.unblocked_runs + [pk] * result.unfinished:
            if waiting not in queue:
                queue.append(waiting)
    assert served[:9] == [0, 1, 2] * 3
    assert {run.status for run in Run.objects.all()} == {"complete"}


def test_a_run_that_waits_is_not_abandoned_and_one_whose_task_was_lost_is() -> None:
    first = make_attempt(make_case(2))
    second = make_attempt(make_case(2, owner=first.created_by), first.endpoint)
    Endpoint.objects.update(parallel=1)
    one, other = start(first), start(second)
    Run.objects.update(created_at=timezone.now() - timedelta(hours=1))
    claim(one)
    assert claims.claim(other.pk) is None
    assert runs.sweep() == []
    other.parts.update(heartbeat_at=timezone.now() - claims.STALE_AFTER * 2)
    assert runs.sweep() == [other.pk]


def test_a_worker_that_died_before_the_clock_was_set_back_is_dead() -> None:
    attempt = make_attempt(make_case(2))
    Endpoint.objects.update(parallel=1)
    run = start(attempt)
    claim(run)
    run.parts.update(heartbeat_at=timezone.now() + timedelta(hours=1))
    assert runs.sweep() == [run.pk]
    assert runs.finish_here(run).status == "complete"


def test_a_worker_that_finds_the_engine_down_stops_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PART_QUERIES", 20)
    attempt = make_attempt(make_case(60))
    script = script_of(attempt)
    script.default = DOWN
    run = start(attempt)
    other = claim(run)
    runs.continue_run(run.pk)
    run.refresh_from_db()
    assert (run.status, run.cancel_requested, run.done, run.parts.count()) == ("running", True, 16, 1)
    assert claims.claim(run.pk) is None
    claims.release(other.part, connection_failures=0)
    assert runs.continue_run(run.pk) == runs.ChunkResult(unfinished=False)
    run.refresh_from_db()
    assert (run.status, run.done, run.failed) == ("failed", 16, 16)
    assert run.reason.startswith("16 searches in a row failed.")


def test_a_stopped_run_ends_when_its_last_worker_has_stopped() -> None:
    attempt = make_attempt(make_case(9))
    run = start(attempt)
    claimed = [claim(run), claim(run)]
    runs.cancel(run=run)
    run.refresh_from_db()
    assert (run.status, run.parts.count()) == ("running", 2)
    for number, each in enumerate(claimed):
        claims.release(each.part, connection_failures=0)
        runs.continue_run(run.pk)
        run.refresh_from_db()
        assert (run.status == "cancelled") == (number == 1)
    assert script_of(attempt).requests == []


def test_counters_are_those_of_all_workers() -> None:
    attempt = make_attempt(make_case(9))
    run = start(attempt)
    script = script_of(attempt)
    counts: list[tuple[int, int, int]] = []

    def before(request: engines.Request) -> None:
        script.before = lambda request: None
        runs.continue_run(run.pk)  # another worker, meanwhile

    script.before = before
    runs.continue_run(run.pk, progress=lambda *seen: counts.append(seen))
    run.refresh_from_db()
    assert (run.done, run.rankings.count(), counts) == (6, 6, [(6, 0, 9)])
    assert runs.finish_here(run).done == 9


def test_queries_added_during_a_run_are_not_searched_by_it() -> None:
    case = make_case(5)
    attempt = make_attempt(case)
    run = start(attempt)
    queries.add(case=case, texts=["late"])
    run = runs.finish_here(run)
    assert (run.status, run.done, run.queries) == ("complete", 5, 5)
    assert runs.count_unsearched(run) == {"new": 1, "edited": 0}


def test_a_case_score_waits_for_the_last_part() -> None:
    case = make_case(6, {"query 1": {"a": 3}, "query 6": {"z": 3}})
    run = start(make_attempt(case))
    runs.continue_run(run.pk)
    assert not run.case_scores.exists()
    assert run.query_scores.exists()
    runs.continue_run(run.pk)
    assert run.case_scores.get().score == 50
    assert scores.rescore_run(run) == 0
