"""Changes to endpoints, and what administrators allow for one."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from relevancy import endpoints
from relevancy.models import Endpoint, User
from tests.factories import make_endpoint, make_user

SOLR = "http://127.0.0.1:8983/solr/films"


@pytest.fixture
def owner(db: None) -> User:
    return make_user("Owner", superuser=True)


def update(endpoint: Endpoint, url: str, **changes: Any) -> None:
    stored = {name: getattr(endpoint, name) for name in ("name", "engine", "parallel", "per_minute")}
    endpoints.update(endpoint=endpoint, by=endpoint.owner, url=url, credentials={}, headers={}, **{**stored, **changes})
    endpoint.refresh_from_db()


def test_update_to_a_handler_that_is_not_allowed(owner: User) -> None:
    endpoint = make_endpoint(owner, engine="solr", url=SOLR)
    with pytest.raises(ValidationError, match="An administrator can allow"):
        update(endpoint, f"{SOLR}/browse")


def test_update_keeps_what_is_allowed_at_the_same_server(owner: User) -> None:
    endpoint = make_endpoint(owner, engine="solr", url=SOLR, allowed_handlers="browse", allowed_indexes="other more")
    update(endpoint, f"{SOLR}/browse")
    assert (endpoint.url, endpoint.allowed_handlers) == (f"{SOLR}/browse", "browse")
    assert endpoints.connection(endpoint).allowed_indexes == ("other", "more")


@pytest.mark.parametrize(
    "changes",
    [{"url": "http://127.0.0.1:8984/solr/films"}, {"url": "http://127.0.0.1:8983/films", "engine": "elasticsearch"}],
)
def test_update_forgets_what_was_allowed_at_another_server(owner: User, changes: dict[str, str]) -> None:
    endpoint = make_endpoint(owner, engine="solr", url=SOLR, allowed_handlers="browse", allowed_indexes="other")
    update(endpoint, **changes)
    assert (endpoint.allowed_handlers, endpoint.allowed_indexes) == ("", "")


@pytest.mark.parametrize("names", ["a,b", "a;b", "*", "_all/", "a\tb\x00"])
def test_names_of_allowed_indexes(owner: User, names: str) -> None:
    endpoint = make_endpoint(owner, engine="solr", url=SOLR)
    endpoint.allowed_indexes = names
    with pytest.raises(ValidationError):
        endpoint.full_clean()
