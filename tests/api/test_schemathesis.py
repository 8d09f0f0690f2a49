"""Requests drawn from the OpenAPI document: no answer is an error of the server, and each is documented.

Some are drawn at random. Others are systematic: every limit, missing field and wrong type, one after the other. These are most of
the requests, so they are sent on PostgreSQL only, which refuses more than SQLite does. Wrong methods are left out: Django Ninja refuses
them in one place, see `test_method_not_allowed`.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, connection, transaction
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from relevancy import cases, queries, scorers, teams
from relevancy.accounts import api_tokens
from relevancy.api.v1 import api as rest_api
from relevancy.models import ApiToken, Case, Run, ScorerDefinition
from tests.factories import make_attempt, make_case, run_now
from tests.optional import contributed

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
RANDOM_REQUESTS = 8  # for each operation
UNKNOWN_IDS = 4  # one request in so many names the ids that were drawn instead of objects that exist
_config = {"phases": {"coverage": {"enabled": connection.vendor == "postgresql", "unexpected-methods": []}}}
schema = schemathesis.openapi.from_dict(rest_api.get_openapi_schema(), config=SchemathesisConfig.from_dict(_config))
_application = get_wsgi_application()


def _closing_application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    """Closes responses as servers do; the client of schemathesis does not, and files would stay open."""
    response = _application(environ, start_response)
    try:
        return list(response)
    finally:
        response.close()


schema.app = _closing_application
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _one_connection() -> Iterator[None]:
    """Requests use the connection of the test, with its transaction: Django's own test client does the same."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def case_of_owner(script: Any) -> Case:
    case = make_case(3, {"query 1": {"a": 3}})
    queries.link(queries=list(case.book.queries.order_by("pk")[1:]))
    attempt = make_attempt(case)
    runs = [run_now(attempt) for _ in range(2)]
    cases.annotations.add(case=case, run=runs[0], text="New synonyms", by=case.owner)
    return case


@pytest.fixture
def ids(case_of_owner: Case) -> dict[str, Any]:
    """Ids that exist, for the parameters of addresses."""
    team = teams.create(name="Search", by=case_of_owner.owner)
    definition = ScorerDefinition(measure="nDCG@5")
    scorer = scorers.create(name="Of the shop", definition=definition, by=case_of_owner.owner)
    newest, before = Run.objects.newest_for(case_of_owner).select_related("attempt")
    made = [make_objects(case_of_owner, newest, before) for make_objects in contributed("make_objects")]
    return {
        **{name: pk for pks in made for name, pk in pks.items()},
        "case_id": case_of_owner.pk,
        "query_id": case_of_owner.book.queries.first().pk,
        "number": newest.attempt.number,
        "run_id": newest.pk,
        "other_id": before.pk,
        "link_id": case_of_owner.book.query_links.get().pk,
        "annotation_id": case_of_owner.annotations.get().pk,
        "endpoint_id": newest.attempt.endpoint_id,
        "book_id": case_of_owner.book_id,
        "team_id": team.pk,
        "scorer_id": scorer.pk,
    }


@pytest.fixture
def headers(case_of_owner: Case) -> dict[str, str]:
    scope = ApiToken.Scope.WRITE
    text = api_tokens.create(user=case_of_owner.owner, name="schemathesis", scope=scope, days=1)[1]
    return {"Authorization": f"Bearer {text}"}


@pytest.fixture
def numbers() -> Iterator[int]:
    """Counts the requests of a test."""
    return itertools.count(1)


@schema.parametrize()
@hypothesis.settings(
    max_examples=RANDOM_REQUESTS,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)
def test_every_answer_is_documented(
    case: schemathesis.Case, numbers: Iterator[int], ids: dict[str, Any], headers: dict[str, str]
) -> None:
    has_valid_ids = not case.meta.is_negative_at(ParameterLocation.PATH)
    if has_valid_ids and next(numbers) % UNKNOWN_IDS:
        case.path_parameters.update({name: ids[name] for name in case.path_parameters if name in ids})
    with transaction.atomic():
        response = case.call(headers=headers)
        transaction.set_rollback(True)
    case.validate_response(response, checks=CHECKS, headers=headers)
