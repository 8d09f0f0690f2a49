"""What the app adds to tests that cover the whole site; see tests/optional.py."""

from relevancy.models import Case, Run, User
from relevancy.optional.single_sign_on.models import ExternalAccount

# tests/views/test_access_matrix.py: a site without a provider
PAGES = """
address                method role    status
openid_login           GET    public  404
openid_answer          GET    public  404
account_external       GET    all     404
account_external       POST   all     404
account_external_disconnect POST all 404
"""


def make_objects(case: Case, run: Run, other: Run) -> dict[str, int]:
    """The id of nothing: nobody can disconnect what is not the user's own."""
    return {"external_id": 0}


def make_rows(case: Case, run: Run, rater: User) -> None:
    """One row of every model."""
    ExternalAccount.objects.create(user=rater, issuer="https://login.example.com", subject="7")
