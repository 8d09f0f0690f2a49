"""What the app adds to tests that cover the whole site; see tests/optional.py."""

from typing import Any

from relevancy.models import Case, Run, User
from relevancy.optional.public_links import public_links

# tests/views/test_access_matrix.py
PAGES = """
address                method role    status
case_link_new          POST   own     200
case_link_withdraw     POST   own     302
public_case            GET    public  200
public_query           GET    public  200
"""
PART_ID = "public_link_id"


def make_objects(case: Case, run: Run, other: Run) -> dict[str, int | str]:
    """A link to the case: its id, and the token that its address ends with."""
    link, token = public_links.create(case=case, by=case.owner, days=1)
    return {"public_link_id": link.pk, "link_token": token}


def bodies(world: Any) -> dict[str, dict[str, Any]]:
    """What is posted to an address, so that nothing but the missing role refuses it."""
    return {"case_link_new": {"days": "7"}}


def make_rows(case: Case, run: Run, rater: User) -> None:
    """One row of every model."""
    public_links.create(case=case, by=case.owner, days=1)
