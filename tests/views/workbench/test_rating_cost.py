"""What a rating on the workbench costs."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from relevancy import scorers, scores
from relevancy.models import Book, CaseScore, RunComparison, Scorer
from relevancy.scores import grades
from tests.factories import make_case, make_scorer, run_now

from .example_cases import HTMX, at, attributes, by_id, case_query_of, make_workbench_case, words

pytestmark = pytest.mark.django_db
ROW_LOCKS = 2  # of the query and of the runs, where the database has them
MAX_STATEMENTS = 24  # under one scorer
MAX_STATEMENTS_WITH_OTHERS = 26  # whatever the number of secondary scorers, runs and other cases
# Inside the test's transaction, `atomic` sets savepoints; in production it begins and commits.
SAVEPOINTS = ("SAVEPOINT", "RELEASE SAVEPOINT")


@pytest.fixture(autouse=True)
def no_worker(settings):
    """Tasks are not executed within the request."""
    settings.TASKS = {"default": {"BACKEND": "django.tasks.backends.dummy.DummyBackend"}}


def statements_of_rating(client, case, **parameters):
    """The statements of the second of two ratings of a document."""
    url = at(case, "rate", case_query_of(case, "query 1").pk, rank=1, **parameters)
    for grade in "12":
        with CaptureQueriesContext(connection) as captured:
            response = client.post(url, {"doc_id": "a", "value": grade}, headers=HTMX)
    assert response.status_code == 200
    return [query["sql"] for query in captured if not query["sql"].startswith(SAVEPOINTS)]


def check(statements, most=MAX_STATEMENTS):
    most += ROW_LOCKS if connection.features.has_select_for_update else 0
    assert len(statements) <= most, "\n".join(sql[:150] for sql in statements)


def add_secondary_scorers(case, *measures):
    chosen = list(Scorer.objects.filter(case_scorers__case=case))
    chosen += [make_scorer(measure, f"Second {measure}") for measure in measures]
    scorers.choose_scorers(case=case, scorers=chosen)
    assert scores.rescore_case(case, seconds=60)  # as the worker does at once


def attempt_of(case):
    return case.attempts.select_related("case", "endpoint").get()


def test_rate_costs_few_statements(sign_in, people, team, script):
    case = make_workbench_case(people, team)
    run_now(attempt_of(case))
    check(statements_of_rating(sign_in("rater"), case))


def test_rate_in_a_large_case_sums_no_scores_and_says_so_until_a_worker_has(sign_in, people, team, script, monkeypatch):
    monkeypatch.setattr("relevancy.scores.MAX_SUMMED", 1)
    monkeypatch.setattr("relevancy.scores.rescoring.MAX_SUMMED", 1)
    case = make_workbench_case(people, team)
    for _ in range(2):
        run_now(attempt_of(case))
    client = sign_in("rater")
    assert "rated from:body delay:10s" in attributes(by_id(client.get(at(case, "case")), "case-score"))["hx-trigger"]
    statements = statements_of_rating(client, case)
    assert not [sql for sql in statements if "SUM(" in sql]
    with CaptureQueriesContext(connection) as captured:
        response = client.get(at(case, "run_state", only="head"))
    assert not [query for query in captured if '"stale"' in query["sql"]]  # what the worker computes is not counted
    assert attributes(by_id(response, "case-score"))["hx-trigger"].startswith("load delay:10s")
    assert "being rescored" in words(by_id(response, "case-difference"))
    assert "hx-get" in attributes(by_id(response, "case-score"))  # it polls
    assert scores.rescore_case(case, seconds=60)
    head = by_id(client.get(at(case, "run_state", only="head")), "case-score")
    assert "being rescored" not in words(head)
    run = case.runs.first()
    stored = CaseScore.objects.get(run=run)
    assert stored.revision == case.score_revision.revision
    assert RunComparison.objects.get(run=run, baseline=scores.baseline_of(run)).revision == stored.revision


def test_rate_combines_the_ratings_of_the_query_once(sign_in, people, team, script, monkeypatch):
    case = make_workbench_case(people, team)
    run_now(attempt_of(case))
    combined = []
    combine = grades.combine_grades
    monkeypatch.setattr(grades, "combine_grades", lambda *given: combined.append(given) or combine(*given))
    statements_of_rating(sign_in("editor"), case)
    assert len(combined) == 2  # ratings; a rater who judges blind sees others


def test_rate_with_secondary_scorers_costs_the_same_however_many_there_are(sign_in, people, team, script):
    case = make_workbench_case(people, team)
    add_secondary_scorers(case, "P@5")
    run_now(attempt_of(case))
    client = sign_in("rater")
    one = statements_of_rating(client, case)
    add_secondary_scorers(case, "P@10", "RR@10", "AP@10", "DCG@10")
    five = statements_of_rating(client, case)
    check(one, MAX_STATEMENTS_WITH_OTHERS)
    assert len(five) == len(one), "\n".join(sql[:150] for sql in five)


def test_rate_of_a_book_with_other_cases_costs_few_statements_and_no_write_while_their_rescoring_is_queued(
    sign_in, people, team, script
):
    case = make_workbench_case(people, team)
    for _ in range(3):
        run_now(attempt_of(case))
        make_case(["query 1"], book_of=case, owner=people["admin"])
    statements = statements_of_rating(sign_in("rater"), case)
    check(statements)
    assert not [sql for sql in statements if sql.startswith(f'UPDATE "{Book._meta.db_table}"')]


def test_rate_on_an_older_run_costs_few_statements_however_many_runs_there_are(sign_in, people, team, script):
    case = make_workbench_case(people, team)
    add_secondary_scorers(case, "P@5")
    run_now(attempt_of(case))
    client = sign_in("rater")
    few = statements_of_rating(client, case, run=1)
    for _ in range(3):
        run_now(attempt_of(case))
    many = statements_of_rating(client, case, run=1)
    check(few, MAX_STATEMENTS_WITH_OTHERS)
    assert len(many) == len(few), "\n".join(sql[:150] for sql in many)


def test_rate_as_an_editor_who_sees_the_case_by_role_costs_few_statements(sign_in, people, team, script):
    case = make_workbench_case(people, team)
    add_secondary_scorers(case, "P@5")
    run_now(attempt_of(case))
    check(statements_of_rating(sign_in("editor"), case), MAX_STATEMENTS_WITH_OTHERS)
