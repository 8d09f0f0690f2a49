"""Scripts never run in a request: the page answers at once, a worker scores, and the page asks until it has."""

import pytest

from relevancy import ratings, sandbox, scorers, tasks
from relevancy.models import QueryScore
from tests.factories import make_scorer, query_of, run_now

from .example_cases import (
    AFTER_RATINGS,
    HTMX,
    at,
    attributes,
    by_id,
    case_query_of,
    elements,
    head_after,
    make_workbench_case,
    tree,
)

pytestmark = pytest.mark.django_db


class Worker:
    """The tasks that were enqueued, and whether scripts may run."""

    def __init__(self):
        self.enqueued = []
        self.is_working = True

    @property
    def task_names(self):
        return sorted(task.name for task, _ in self.enqueued)

    def work(self):
        """Does what was enqueued, as a worker does."""
        self.is_working = True
        for task, pk in self.enqueued:
            task.func(pk)
        self.enqueued.clear()
        self.is_working = False


@pytest.fixture
def worker(monkeypatch):
    worker = Worker()

    def score(script, queries, **options):
        assert worker.is_working, "A script runs in a request."
        return [sandbox.Outcome(float(len(query.known) * 10)) for query in queries]

    monkeypatch.setattr(sandbox, "score", score)
    monkeypatch.setattr(tasks, "send", lambda task, pk, **_: worker.enqueued.append((task, pk)))
    return worker


@pytest.fixture(params=[["script"], ["nDCG@10", "script"]], ids=["primary", "secondary"])
def case(request, people, team, script, worker):
    """A case with a run, scored by a script; `query 1` has two rated documents."""
    case = make_workbench_case(people, team, run=False)
    chosen = [
        make_scorer("", "Script", script="setScore(1);") if name == "script" else make_scorer(name, "Measure")
        for name in request.param
    ]
    scorers.choose_scorers(case=case, scorers=chosen)
    run_now(case.attempts.select_related("case", "endpoint").get())
    worker.is_working = False
    return case


def script_score(case, text="query 1"):
    return QueryScore.objects.exclude(version__script="").get(query=query_of(case, text)).score


def test_rating_answers_with_the_score_before_and_polls_until_the_worker_has_scored(sign_in, case, worker):
    client, case_query = sign_in("rater"), case_query_of(case, "query 1")
    response = client.post(at(case, "rate", case_query.pk, rank=2), {"doc_id": "b", "value": "2"}, headers=HTMX)
    assert response.status_code == 200
    assert script_score(case) == 20
    assert len(elements(by_id(response, f"query-scores-{case_query.pk}"), **{"data-stale": ""})) == 1
    head = attributes(head_after(client, case))
    assert head["hx-trigger"] == "every 2s"
    waiting = client.get(head["hx-get"], headers=HTMX)
    assert attributes(by_id(waiting, "case-score"))["hx-trigger"] == "every 2s"
    assert "HX-Trigger" not in waiting.headers, "Nothing has changed since the last poll."

    assert worker.task_names == ["rescore_book", "rescore_run"]
    worker.work()
    assert script_score(case) == 30
    done = client.get(head["hx-get"], headers=HTMX)
    assert attributes(by_id(done, "case-score"))["hx-trigger"] == AFTER_RATINGS
    assert done.headers["HX-Trigger"] == "run-finished"
    opened = client.get(at(case, "query", case_query.pk), headers=HTMX)
    assert elements(by_id(opened, f"query-scores-{case_query.pk}"), **{"data-stale": ""}) == []


def test_rating_without_javascript_enqueues_as_well(sign_in, case, worker):
    case_query = case_query_of(case, "query 1")
    response = sign_in("rater").post(at(case, "rate", case_query.pk), {"doc_id": "b", "value": "2"})
    assert response.status_code == 302
    assert worker.task_names == ["rescore_book"]  # it runs scripts as well


def test_rating_twice_enqueues_once(sign_in, case, worker):
    client, case_query = sign_in("rater"), case_query_of(case, "query 1")
    for value in "12":
        client.post(at(case, "rate", case_query.pk, rank=2), {"doc_id": "b", "value": value}, headers=HTMX)
        head_after(client, case)
    assert worker.task_names == ["rescore_book", "rescore_run"]


def test_rating_that_changes_nothing_does_not_poll(sign_in, case, worker):
    client, case_query = sign_in("rater"), case_query_of(case, "query 1")
    client.post(at(case, "rate", case_query.pk, rank=2), {"doc_id": "b", "value": "2"}, headers=HTMX)
    worker.work()
    client.post(at(case, "rate", case_query.pk, rank=2), {"doc_id": "b", "value": "2"}, headers=HTMX)
    assert attributes(head_after(client, case))["hx-trigger"] == AFTER_RATINGS
    assert worker.enqueued == []


def test_opened_page_does_not_run_scripts(sign_in, case, worker):
    ratings.rate(query=query_of(case, "query 1"), doc_id="b", value=2, by=case.owner)
    response = sign_in("viewer").get(at(case, "case"))
    (notice,) = elements(tree(response), **{"data-notice": "stale-scores"})
    assert attributes(notice)["hx-get"] == at(case, "run_state")
    assert "rescore_run" in worker.task_names


def test_added_script_and_scoring_again_are_left_to_the_worker(sign_in, case, worker):
    client = sign_in("editor")
    other = make_scorer("", "Other", script="setScore(2);")
    assert client.post(at(case, "case_scorer_add"), {"scorer": other.pk}).status_code == 302
    assert [task.name for task, _ in worker.enqueued] == ["rescore_book"]
    worker.work()
    QueryScore.objects.exclude(version__script="").update(error="failed", score=None)
    assert client.post(at(case, "case_score_again")).status_code == 302
    assert [task.name for task, _ in worker.enqueued] == ["rescore_failed"]
    worker.work()
    assert not QueryScore.objects.exclude(error="").exists()


def test_search_again_leaves_scripts_to_the_worker(sign_in, case, worker):
    case_query = case_query_of(case, "query 1")
    response = sign_in("editor").post(at(case, "query_search", case_query.pk), headers=HTMX)
    assert response.status_code == 200
    assert attributes(by_id(response, "case-score"))["hx-trigger"] == "every 2s"
    assert [task.name for task, _ in worker.enqueued] == ["rescore_run"]
    worker.work()
    assert script_score(case) == 20
