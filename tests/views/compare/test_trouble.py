"""Comparisons of runs that have lost something, or have nothing in common: each gives words, on the page and in its files."""

import pytest
from django.urls import reverse
from django.utils import timezone

from relevancy import cases, comparison, scorers
from relevancy.models import Run, StoredComparison
from tests.comparison.conftest import run_with
from tests.factories import make_case, make_scorer
from tests.views.workbench.example_cases import by_id, elements, tree, words

from .test_pages import HTMX, address, open_ready


@pytest.fixture
def case(people, team, script):
    case = make_case(2, {"query 1": {"a": 3}}, owner=people["admin"], measures=("P@1",))
    cases.share(case=case, team=team)
    return case


@pytest.fixture
def baseline(case):
    return run_with(case, {"query 1": "ab", "query 2": "ab"})


@pytest.fixture
def foreign(case, baseline, people, team):
    """A run of another case on the same book, without a query of the first case."""
    other = make_case(["query 8", "query 9"], {"query 8": {"a": 3}}, book_of=case, owner=people["admin"])
    cases.share(case=other, team=team)
    return run_with(other, {"query 8": "ab", "query 9": "ab"})


def test_runs_that_share_no_query(sign_in, case, foreign):
    client = sign_in("rater")
    compared = {"run": [1, f"{foreign.case_id}:1"]}
    response = open_ready(client, case, **compared)
    verdict = words(by_id(response, "verdict"))
    assert "none of their queries is scored in both" in verdict
    assert not elements(tree(response), **{"data-figure": "changed"})
    for name in ("compare_csv", "compare_json", "compare_report"):
        assert client.get(address(case, name, **compared)).status_code == 200
    for tab in ("charts", "tags", "rate", "figures"):
        headers = {**HTMX, "HX-Target": "compared-tabs"}
        assert client.get(address(case, **compared, tab=tab), headers=headers).status_code == 200


def test_a_comparison_outlives_the_case_of_its_other_run(sign_in, case, foreign, people):
    client = sign_in("admin")
    compared = {"run": [1, f"{foreign.case_id}:1"]}
    open_ready(client, case, **compared)
    stored = StoredComparison.objects.get()
    run_with(case, {"query 1": "ba"})
    cases.delete(case=foreign.case, by=people["admin"])
    response = client.get(address(case, **compared))
    (notice,) = elements(tree(response), **{"data-notice": "cannot-compare"})
    assert "does not exist in this case" in words(notice)
    for name in ("compare_csv", "compare_json", "compare_report", "compare_state"):
        assert client.get(address(case, name, **compared)).status_code < 400
    comparison.stored.compute(stored.pk)  # of a task that was enqueued before
    stored.refresh_from_db()
    assert "1 run cannot be compared" in stored.error
    assert "are being compared" not in words(by_id(open_ready(client, case), "verdict"))


def test_a_comparison_is_deleted_with_the_case_of_its_baseline(sign_in, case, foreign, people):
    client = sign_in("admin")
    open_ready(client, foreign.case, run=["1", f"{case.pk}:1"])
    stored = StoredComparison.objects.get()
    cases.delete(case=foreign.case, by=people["admin"])
    assert not StoredComparison.objects.exists()
    comparison.stored.compute(stored.pk)
    assert client.get(address(case, run=1)).status_code == 200


def test_a_script_whose_fields_were_dropped(sign_in, case, baseline):
    newer = run_with(case, {"query 1": "ba", "query 2": "ab"})
    script = make_scorer("", "By fields", script="setScore(docs.length ? 50 : 0)")
    Run.objects.filter(pk=baseline.pk).update(fields_dropped_at=timezone.now())
    scorers.choose_scorers(case=case, scorers=[script])
    response = open_ready(sign_in("viewer"), case, run=[1, newer.number])
    verdict = words(by_id(response, "verdict"))
    assert f"{baseline} of {case} no longer has the displayed fields that the script needs." in verdict
    assert "none of their queries is scored in both" in verdict
    assert "1 result list changed." in verdict


def test_a_run_that_is_searched_again_is_not_compared_meanwhile(sign_in, case, baseline):
    newer = run_with(case, {"query 1": "ba", "query 2": "ab"})
    last = run_with(case, {"query 1": "ab", "query 2": "ab"})
    client = sign_in("viewer")
    open_ready(client, case, run=[1, newer.number])
    Run.objects.filter(pk=newer.pk).update(status=Run.Status.RUNNING)
    response = client.get(address(case, run=[1, newer.number]))
    (notice,) = elements(tree(response), **{"data-notice": "cannot-compare"})
    assert "Choose another run" in words(notice)
    assert client.get(address(case, run=[1, last.number])).status_code == 200
    rate_url = reverse("compare_rate", args=[case.pk, case.case_queries.first().pk], query={"run": [1, newer.number]})
    refused = sign_in("rater").post(rate_url, {"doc_id": "a", "value": "3"}, headers=HTMX)
    assert refused.status_code == 409
