"""Creating a whole case: all of it or nothing, and no name lookup while the database is locked."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection

from relevancy import cases, endpoints, engines
from relevancy.models import Book, Case, Endpoint, Scorer
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def setup_with(endpoint: Endpoint, **values: Any) -> cases.CaseSetup:
    default = Scorer.objects.get(is_default=True)
    given = {"name": "Shop", "scorer": default, "template": "q=#$query##", "fields": "id title", "texts": ["star"]}
    return cases.CaseSetup(endpoint=endpoint, **{**given, **values})


def test_no_name_is_looked_up_in_the_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    """On SQLite every writer would wait for the name server."""
    user, depth = make_user(), len(connection.savepoint_ids)
    depths = []
    monkeypatch.setattr(engines.AddressRules, "check", lambda *_: depths.append(len(connection.savepoint_ids)))
    endpoint = endpoints.build_endpoint(name="shop", engine="solr", url="http://127.0.0.1:1/solr/films", by=user)
    assert depths == [depth]
    run = cases.create_from_setup(setup=setup_with(endpoint), by=user).run
    assert run is not None
    assert depths == [depth]
    assert (run.queries, Endpoint.objects.get().name) == (1, "shop")


def test_nothing_is_created_if_a_part_is_invalid() -> None:
    user = make_user()
    endpoint = endpoints.build_endpoint(name="shop", engine="embedded", url="films", by=user)
    with pytest.raises(ValidationError, match="too many"):
        cases.create_from_setup(
            setup=setup_with(endpoint, template='{"query": "#$query##"}', texts=[str(n) for n in range(20_001)]),
            by=user,
        )
    assert (Case.objects.count(), Book.objects.count(), Endpoint.objects.count()) == (0, 0, 0)


def test_endpoint_name_that_was_taken_meanwhile() -> None:
    user = make_user()
    endpoint = endpoints.build_endpoint(name="shop", engine="embedded", url="films", by=user)
    endpoints.create(name="shop", engine="embedded", url="films", by=user)
    with pytest.raises(ValidationError) as caught:
        cases.create_from_setup(setup=setup_with(endpoint), by=user)
    assert list(caught.value.message_dict) == ["name"]
