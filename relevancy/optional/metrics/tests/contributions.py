"""What the app adds to tests that cover the whole site; see tests/optional.py."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from relevancy.accounts import api_tokens
from relevancy.models import ApiToken
from tests.factories import make_user

# tests/views/test_access_matrix.py: no metrics without a setting, and an API token instead of a session
PAGES = """
address                method role    status
metrics                GET    public  404
case_metrics           GET    public  401
"""


@contextmanager
def with_token(sandbox: Any) -> Iterator[None]:
    """The token that the guide sends."""
    _, token = api_tokens.create(user=make_user("Ann"), name="Grafana", scope=ApiToken.Scope.READ, days=None)
    sandbox.variables |= {"TOKEN": token, "SITE": ""}
    yield


# tests/test_guides.py
EXECUTED_IN = {("metrics.md", "yaml"): "relevancy/optional/metrics/tests/test_pages.py"}
GUIDE_SURROUNDINGS = {"metrics.md": with_token}
