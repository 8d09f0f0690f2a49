"""What the app adds to tests that cover the whole site; see tests/optional.py."""

from typing import Any

from relevancy.models import Case, Run, User
from relevancy.optional.preferences.models import PreferenceTest
from tests.views.factories import make_run

# tests/views/test_access_matrix.py
PAGES = """
address                method role    status
preference_new         GET    edit    302
preference_new         POST   edit    302
preferences            GET    see     200
preference             GET    rate    200
preference_choose      POST   rate    302
preference_undo        POST   rate    302
preference_close       POST   edit    302
preference_result      GET    see     200
"""
PART_ID = "test_id"
FORM_PARTS = """
route              fields
preference_new     a b
preference_choose  query
"""


def make_objects(case: Case, run: Run, other: Run) -> dict[str, int]:
    """A test of two runs, of one query; its id by its name in addresses."""
    test = PreferenceTest.objects.create(run_a=run, run_b=other, depth=10, drawn=1, identical=0, created_by=case.owner)
    test.test_queries.create(query=case.book.queries.first())
    return {"test_id": test.pk}


def bodies(world: Any) -> dict[str, dict[str, Any]]:
    """What is posted to an address, so that nothing but the missing role refuses it."""
    return {
        "preference_new": {"a": world.run.pk, "b": world.other_run.pk},
        "preference_choose": {"query": world.case.book.queries.first().pk, "side": "left", "key": "0" * 16},
        "preference_close": {"do": "close"},
    }


def make_rows(case: Case, run: Run, rater: User) -> None:
    """One row of every model."""
    test = PreferenceTest.objects.create(
        run_a=run, run_b=make_run(case), depth=10, drawn=1, identical=0, created_by=rater
    )
    test_query = test.test_queries.create(query=case.book.queries.first())
    test_query.preferences.create(rater=rater, choice="a", lists_key="0" * 16)
