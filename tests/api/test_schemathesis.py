"""Requests drawn from the OpenAPI document: no answer is an error of the server, and each is documented."""

from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from relevancy import cases, schedules
from relevancy.accounts import api_tokens
from relevancy.api.v1 import api as rest_api
from relevancy.models import ApiToken, Case, Run
from tests.factories import make_attempt, make_case, run_now

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
schema = schemathesis.openapi.from_dict(rest_api.get_openapi_schema())
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
    case = make_case(2, {"query 1": {"a": 3}})
    attempt = make_attempt(case)
    runs = [run_now(attempt) for _ in range(2)]
    schedules.save(case=case, by=case.owner, cron="0 2 * * *", time_zone="UTC")
    group = cases.groups.create(name="Markets", by=case.owner)
    cases.groups.add_case(group=group, case=case)
    schedules.save_for_group(group=group, by=case.owner, cron="0 2 * * *", time_zone="UTC")
    cases.annotations.add(case=case, run=runs[0], text="New synonyms", by=case.owner)
    return case


@pytest.fixture
def ids(case_of_owner: Case) -> dict[str, Any]:
    """Ids that exist, for the parameters of addresses."""
    newest, before = Run.objects.newest_for(case_of_owner).select_related("attempt")
    return {
        "case_id": case_of_owner.pk,
        "query_id": case_of_owner.book.queries.first().pk,
        "number": newest.attempt.number,
        "run_id": newest.pk,
        "other_id": before.pk,
        "group_id": case_of_owner.owner.case_groups.get().pk,
        "annotation_id": case_of_owner.annotations.get().pk,
        "endpoint_id": newest.attempt.endpoint_id,
        "book_id": case_of_owner.book_id,
    }


@pytest.fixture
def headers(case_of_owner: Case) -> dict[str, str]:
    scope = ApiToken.Scope.WRITE
    text = api_tokens.create(user=case_of_owner.owner, name="schemathesis", scope=scope, days=1)[1]
    return {"Authorization": f"Bearer {text}"}


@pytest.mark.parametrize("exists", [True, False], ids=["existing objects", "any ids"])
@schema.parametrize()
@hypothesis.settings(
    max_examples=8,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)
def test_every_answer_is_documented(
    case: schemathesis.Case, exists: bool, ids: dict[str, Any], headers: dict[str, str]
) -> None:
    if exists:
        case.path_parameters.update({name: ids[name] for name in case.path_parameters if name in ids})
    with transaction.atomic():
        response = case.call(headers=headers)
        transaction.set_rollback(True)
    case.validate_response(response, checks=CHECKS, headers=headers)
