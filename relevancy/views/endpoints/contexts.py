"""What the templates of endpoints are given."""

from typing import TypedDict

from relevancy import endpoints
from relevancy.models import Endpoint

from .forms import TryForm


class ConnectionTestContext(TypedDict, total=False):
    """What `endpoints/_connection_test.html` shows. `documents`: those that a search without an error returned."""

    connection_test: endpoints.ConnectionTest
    text: str
    documents: list[endpoints.Document]


class TryContext(ConnectionTestContext):
    """What `endpoints/try.html` shows."""

    endpoint: Endpoint
    try_form: TryForm
