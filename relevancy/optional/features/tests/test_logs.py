"""Logging of features with the embedded engine."""

from unittest.mock import patch

import numpy as np
import pytest
from django.core.exceptions import ValidationError
from django.db import OperationalError

from relevancy import endpoints, engines, queries, runs
from relevancy.engines.embedded.engine import EmbeddedEngine
from relevancy.models import Case, Endpoint
from relevancy.models.ranking import unpack_doc_ids
from relevancy.optional.features import feature_sets, logs, tasks
from relevancy.optional.features.dataset import read_dataset
from relevancy.optional.features.models import FeatureLog, FeatureSet
from tests.factories import query_of, run_now

from .conftest import TEXT

pytestmark = pytest.mark.django_db


def values_of(log: FeatureLog, text: str) -> dict[str, list[float]]:
    """The stored values by document."""
    row = log.values.get(query=query_of(log.feature_set.case, text))
    matrix = row.matrix(len(log.feature_set.items)).tolist()
    return dict(zip(unpack_doc_ids(row.doc_ids), matrix, strict=True))


def test_a_log_has_the_scores_of_the_engine(log: FeatureLog, case: Case) -> None:
    assert (log.status, log.done, log.failed, log.requests) == ("complete", 2, 0, 4)
    star = values_of(log, "star")
    with engines.connect(_connection(case)) as engine:
        request = engines.Request("star", engine.parse_clause(log.feature_set.items[0].text), FIELDS, 10)
        alone = {hit.id: hit.score for hit in engine.search(request).hits}
    assert star["1"][0] == pytest.approx(alone["1"], rel=1e-6)
    assert star["1"][2] == 30
    assert np.isnan(star["2"][0]) and star["2"][1] > 0  # the title lacks the word, the overview has it
    assert np.isnan(star["3"]).all()  # nothing matches, and there is no number of votes: no zeros
    assert set(values_of(log, "wars")) == {"2"}
    assert log.values.get(query=query_of(case, "wars")).gone == 1


FIELDS = engines.parse_fields("id:id title:title")


def _connection(case: Case) -> engines.Connection:
    return endpoints.connection(case.attempts.get().endpoint)


def test_the_results_of_a_run_are_logged_as_well(case: Case, feature_set: FeatureSet) -> None:
    run = run_now(case.attempts.get())
    log = logs.start(feature_set=feature_set, run=run, by=case.owner)
    tasks.log_chunk.func(log.pk)
    assert set(values_of(log, "wars")) == {"1", "2"}
    dataset = read_dataset(log)
    assert dataset.is_rated.tolist() == [True, True, True, True, False]


def test_an_interrupted_log_goes_on_where_it_was(case: Case, feature_set: FeatureSet) -> None:
    log = logs.start(feature_set=feature_set, by=case.owner)
    with pytest.raises(ValidationError, match="being logged already"):
        logs.start(feature_set=feature_set, by=case.owner)
    with patch.object(logs, "BATCH", 1):
        assert logs.continue_log(log.pk, seconds=-1.0)  # no time: the first batch is not asked
        assert not logs.continue_log(log.pk)
    log.refresh_from_db()
    assert (log.status, log.done) == ("complete", 2)
    queries.add(case=case, texts=["solaris"])
    logs.go_on(log=log, by=case.owner)
    log.refresh_from_db()
    assert (log.status, log.queries, log.done) == ("waiting", 3, 2)
    assert logs.waiting_logs() == [log.pk]
    assert not logs.continue_log(log.pk)
    assert log.values.count() == 3


def test_a_worker_holds_requests_of_the_endpoint_and_is_replaced_when_it_dies(
    case: Case, feature_set: FeatureSet
) -> None:
    log = logs.start(feature_set=feature_set, by=case.owner)
    claimed = logs._claim(log.pk)
    assert claimed is not None
    endpoint = case.attempts.get().endpoint
    assert logs.held_requests(endpoint) == {f"feature log {log.pk}": 1}
    assert logs._claim(log.pk) is None
    FeatureLog.objects.update(heartbeat_at="2026-01-01T00:00Z")
    assert logs.held_requests(endpoint) == {}
    assert not logs.continue_log(log.pk)
    assert FeatureLog.objects.get().status == "complete"


def test_a_log_at_which_three_workers_die_fails_and_goes_on_when_it_is_told_to(
    case: Case, feature_set: FeatureSet
) -> None:
    log = logs.start(feature_set=feature_set, by=case.owner)
    for died in range(1, runs.MAX_WORKER_RESTARTS + 1):
        assert logs.waiting_logs() == [log.pk]
        assert logs._claim(log.pk) is not None
        FeatureLog.objects.update(heartbeat_at="2026-01-01T00:00Z")
        logs.release_dead()
        log.refresh_from_db()
        assert (log.claimed_by, log.slots, log.worker_restarts) == ("", 0, died)
    assert (log.status, logs.waiting_logs()) == ("failed", [])
    assert log.reason.startswith("3 workers in a row stopped unexpectedly")
    logs.go_on(log=log, by=case.owner)
    assert not logs.continue_log(log.pk)
    log.refresh_from_db()
    assert (log.status, log.done, log.worker_restarts) == ("complete", 2, 0)


def test_a_log_fails_at_once_with_an_unexpected_error_and_later_if_the_database_stays_away(
    case: Case, feature_set: FeatureSet, caplog: pytest.LogCaptureFixture
) -> None:
    log = logs.start(feature_set=feature_set, by=case.owner)
    with patch.object(logs, "read_documents", side_effect=KeyError("x")):
        assert not logs.continue_log(log.pk)
    log.refresh_from_db()
    assert (log.status, log.claimed_by) == ("failed", "")
    assert "An unexpected error (KeyError) has ended the log" in log.reason
    assert f"Feature log {log.pk} ended" in caplog.text
    logs.go_on(log=log, by=case.owner)
    with patch.object(logs, "read_documents", side_effect=OperationalError("database is locked")):
        for _ in range(runs.MAX_WORKER_RESTARTS):
            assert logs.waiting_logs() == [log.pk]
            with pytest.raises(OperationalError):
                logs.continue_log(log.pk)
    logs.release_dead()
    log.refresh_from_db()
    assert log.status == "failed" and "could not reach the database" in log.reason


def test_a_log_is_stopped(case: Case, feature_set: FeatureSet) -> None:
    log = logs.start(feature_set=feature_set, by=case.owner)
    logs.stop(log=log, by=case.owner)
    assert not logs.continue_log(log.pk)
    log.refresh_from_db()
    assert (log.status, log.done) == ("stopped", 0)
    logs.go_on(log=log, by=case.owner)
    assert not logs.continue_log(log.pk)
    log.refresh_from_db()
    assert (log.status, log.done) == ("complete", 2)


def test_a_query_that_fails_is_kept_with_its_error_and_asked_again(case: Case, feature_set: FeatureSet) -> None:
    real = EmbeddedEngine.clause_scores

    def fails(self, clauses, doc_ids):  # type: ignore[no-untyped-def]
        if "gone" in doc_ids:
            raise engines.BadQuery("no such field")
        return real(self, clauses, doc_ids)

    log = logs.start(feature_set=feature_set, by=case.owner)
    with patch.object(EmbeddedEngine, "clause_scores", fails):
        logs.continue_log(log.pk)
    log.refresh_from_db()
    assert (log.status, log.done, log.failed) == ("complete", 2, 1)
    assert log.values.exclude(error="").get().error == "no such field"
    assert read_dataset(log).failed == 1
    logs.go_on(log=log, by=case.owner)
    logs.continue_log(log.pk)
    log.refresh_from_db()
    assert (log.done, log.failed) == (2, 0)


def test_a_log_fails_when_the_engine_cannot_be_reached(case: Case, feature_set: FeatureSet) -> None:
    log = logs.start(feature_set=feature_set, by=case.owner)
    unreachable = engines.EndpointUnreachable("nobody answers")
    with (
        patch.object(logs, "MAX_FAILURES", 2),
        patch.object(EmbeddedEngine, "clause_scores", side_effect=unreachable),
    ):
        logs.continue_log(log.pk)
    log.refresh_from_db()
    assert (log.status, log.reason) == ("failed", "2 queries in a row failed. nobody answers")


def test_a_log_never_mixes_two_indexes(case: Case, feature_set: FeatureSet) -> None:
    log = logs.start(feature_set=feature_set, by=case.owner)
    Endpoint.objects.update(url="others")
    logs.continue_log(log.pk)
    log.refresh_from_db()
    assert log.status == "failed"
    assert "was films when the log was started and is now others" in log.reason


def test_versions_are_immutable_once_logged(case: Case, feature_set: FeatureSet) -> None:
    attempt = case.attempts.get()

    def save(text: str) -> int:
        return feature_sets.save(case=case, attempt=attempt, text=text, by=case.owner).version

    assert save(TEXT + "again: number votes") == 1  # nothing has been logged yet
    log = logs.start(feature_set=feature_set, by=case.owner)
    assert save(TEXT + "again: number votes") == 1  # the same
    assert save(TEXT) == 2
    assert len(FeatureSet.objects.get(version=1).items) == 4
    with pytest.raises(ValidationError, match="Stop it first"):
        feature_sets.delete(feature_set=feature_set, by=case.owner)
    logs.continue_log(log.pk)
    feature_sets.delete(feature_set=feature_set, by=case.owner)
    assert not FeatureLog.objects.exists()
    assert {row.verb for row in case.activities.all()} >= {"feature_set.saved", "feature_set.deleted"}


def test_an_imported_run_has_no_engine(case: Case) -> None:
    endpoint = runs.ensure_imported_endpoint(case)
    attempt = case.attempts.get()
    attempt.endpoint = endpoint
    with pytest.raises(ValidationError):
        feature_sets.save(case=case, attempt=attempt, text=TEXT, by=case.owner)
