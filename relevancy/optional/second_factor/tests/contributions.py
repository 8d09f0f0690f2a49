"""What the app adds to tests that cover the whole site; see tests/optional.py."""

from typing import Any

from relevancy.models import Case, Run, User
from relevancy.optional.second_factor import second_factor

# tests/views/test_access_matrix.py
PAGES = """
address                method role    status
login_code             GET    public  302
login_code             POST   public  302
account_second_factor  GET    all     200
account_second_factor  POST   all     200
"""


def bodies(world: Any) -> dict[str, dict[str, Any]]:
    """What is posted to an address, so that nothing but the missing role refuses it."""
    return {"account_second_factor": {"do": "begin"}}


def make_rows(case: Case, run: Run, rater: User) -> None:
    """One row of every model."""
    second_factor.begin(user=rater)
    second_factor.renew_codes(user=rater)
