"""What a rating on the workbench costs."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.factories import run_now

from .example_cases import HTMX, at, entry_of, make_bench

pytestmark = pytest.mark.django_db
MAX_STATEMENTS = 20


def test_rate_costs_few_statements(sign_in, people, team, script):
    case = make_bench(people, team)
    run_now(case.attempts.select_related("case", "endpoint").get())
    client = sign_in("rater")
    url = at(case, "rate", entry_of(case, "query 1").pk, rank=1)
    for grade in "12":
        with CaptureQueriesContext(connection) as captured:
            response = client.post(url, {"doc_id": "a", "value": grade}, headers=HTMX)
    assert response.status_code == 200
    # Inside the test's transaction, `atomic` sets savepoints; in production it begins and commits.
    statements = [query["sql"] for query in captured if not query["sql"].startswith(("SAVEPOINT", "RELEASE SAVEPOINT"))]
    assert len(statements) <= MAX_STATEMENTS, "\n".join(sql[:150] for sql in statements)
