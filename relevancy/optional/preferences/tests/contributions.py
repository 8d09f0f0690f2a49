"""What the app adds to tests that cover the whole site; see tests/optional.py."""

from relevancy.models import Case, Run, User
from relevancy.optional.preferences.models import PreferenceTest
from tests.views.factories import make_run


def make_rows(case: Case, run: Run, rater: User) -> None:
    """One row of every model."""
    test = PreferenceTest.objects.create(
        run_a=run, run_b=make_run(case), depth=10, drawn=1, identical=0, created_by=rater
    )
    test_query = test.test_queries.create(query=case.book.queries.first())
    test_query.preferences.create(rater=rater, choice="a", lists_key="0" * 16)
