"""Which run the workbench shows, and which one it is compared with."""

import itertools

import pytest
from django.utils import timezone

from relevancy import scores
from relevancy.models import Run
from relevancy.views.workbench.run_selection import RunSelection
from tests.factories import make_attempt, make_case

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
COMPLETE, FAILED, RUNNING = "complete", "failed", "running"
SHOWN = [0, 1, 2, 3, 4, 9]  # 0: no run is named


@pytest.fixture
def attempt():
    return make_attempt(make_case(1))


def make_runs(attempt, statuses):
    return [
        Run.objects.create(
            case=attempt.case,
            attempt=attempt,
            number=number,
            status=status,
            rows=10,
            config={},
            created_by=attempt.created_by,
            started_at=timezone.now(),
        )
        for number, status in enumerate(statuses, 1)
    ]


@pytest.mark.parametrize("statuses", list(itertools.product([COMPLETE, FAILED, RUNNING], repeat=4)))
def test_selection_finds_the_run_and_its_baseline_in_one_statement(attempt, statuses, django_assert_num_queries):
    by_number = {run.number: run for run in make_runs(attempt, statuses)}
    complete = [number for number, run in by_number.items() if run.status == COMPLETE]
    default = max(complete) if complete and statuses[-1] == FAILED else 4
    for number in SHOWN:
        shown = by_number.get(number, by_number[default])
        with django_assert_num_queries(1):
            selection = RunSelection(attempt.case, number)
            assert (selection.run, selection.newest) == (shown, by_number[4])
            assert selection.last_complete == (by_number[max(complete)] if complete else None)
            baseline = selection.baseline
        assert baseline == scores.baseline_of(shown)


def test_selection_of_a_case_without_runs(attempt):
    selection = RunSelection(attempt.case, 3)
    assert (selection.run, selection.newest, selection.baseline) == (None, None, None)


def test_selection_leaves_out_runs_of_other_cases(attempt):
    make_runs(make_attempt(make_case(1)), [COMPLETE] * 3)
    (own,) = make_runs(attempt, [COMPLETE])
    selection = RunSelection(attempt.case, 3)
    assert (selection.run, selection.baseline) == (own, None)
