"""The workbench says which script was switched off in the run shown, and offers to score again."""

import pytest

from relevancy import scorers
from relevancy.models import QueryScore
from tests.factories import make_scorer, run_now

from .example_cases import at, attributes, elements, make_workbench_case, tree, words

pytestmark = pytest.mark.django_db


@pytest.fixture
def switched_off(people, team, script):
    """A case with two runs under a script that was switched off in the second one."""
    case = make_workbench_case(people, team, run=False)
    scorers.choose_scorers(case=case, scorers=[make_scorer("", "Endless", script="setScore(40);")])
    attempt = case.attempts.select_related("case", "endpoint").get()
    for _ in range(2):
        run = run_now(attempt)
    ids = list(run.query_scores.order_by("query").values_list("pk", flat=True))
    QueryScore.objects.filter(pk=ids[0]).update(error="late", error_kind="time", score=None)
    QueryScore.objects.filter(pk__in=ids[1:]).update(error="off", error_kind="off", score=None)
    return case


def notices(response):
    return elements(tree(response), **{"data-notice": "script-off"})


def test_notice_says_that_a_script_was_switched_off_and_editors_can_score_again(sign_in, switched_off):
    (notice,) = notices(sign_in("editor").get(at(switched_off, "case")))
    assert "Endless was switched off for the rest of run 2." in words(notice)
    assert "2 queries were not scored" in words(notice)
    (form,) = elements(notice, _name="form")
    assert attributes(form)["action"] == at(switched_off, "case_score_again")


def test_notice_has_no_button_for_raters_and_belongs_to_its_run(sign_in, switched_off):
    client = sign_in("rater")
    (notice,) = notices(client.get(at(switched_off, "case")))
    assert elements(notice, _name="form") == []
    assert notices(client.get(at(switched_off, "case", run=1))) == []
