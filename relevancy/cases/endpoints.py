"""Endpoints: made, tried, archived."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from relevancy import engines, evaluation
from relevancy.models import Endpoint, Role, Team

from .errors import Refused


def may_create(user: Any) -> bool:
    """Only editors name addresses that this server will call."""
    return bool(user.is_superuser or user.memberships.filter(role__gte=Role.EDITOR).exists())


def create(
    *,
    name: str,
    engine: str,
    url: str,
    by: Any,
    options: Mapping[str, Any] | None = None,
    credentials: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    parallel: int = 8,
    per_minute: int = 0,
    teams: tuple[Team, ...] = (),
) -> Endpoint:
    """A new endpoint. The address is checked for form and for where it leads; whether anybody is there says `offers.trial`."""
    endpoint = draft(
        name=name,
        engine=engine,
        url=url,
        by=by,
        options=options,
        credentials=credentials,
        headers=headers,
        parallel=parallel,
        per_minute=per_minute,
    )
    try:
        with transaction.atomic():
            endpoint.save()
    except IntegrityError:
        raise Refused(f"There is an endpoint called {endpoint.name} already.", field="name") from None
    endpoint.teams.add(*teams)
    return endpoint


def draft(
    *,
    name: str,
    engine: str,
    url: str,
    by: Any,
    options: Mapping[str, Any] | None = None,
    credentials: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    parallel: int = 8,
    per_minute: int = 0,
) -> Endpoint:
    """An endpoint that is not stored yet, checked as far as that is possible without asking it."""
    name = " ".join(name.split())
    if not 0 < len(name) <= 120:
        raise Refused("An endpoint needs a name of 1 to 120 characters.", field="name")
    if not 1 <= parallel <= 64:
        raise Refused(f"{parallel} parallel requests are not possible: choose 1 to 64.", field="parallel")
    endpoint = Endpoint(
        name=name,
        engine=engine,
        url=url.strip(),
        owner=by,
        options=dict(options or {}),
        credentials=dict(credentials or {}),
        headers=dict(headers or {}),
        parallel=parallel,
        per_minute=per_minute,
    )
    if not 0 < len(endpoint.url) <= 500:
        raise Refused("The address is empty or longer than 500 characters.", field="url")
    if not isinstance(endpoint.options.get("query_options", {}), dict):
        raise Refused('The option query_options must be a JSON object, such as {"lang": "en"}.', field="options")
    try:
        evaluation.check_address(endpoint)
    except engines.OptionError as error:
        raise Refused(str(error), field=f"option_{error.option}") from None
    except engines.EngineError as error:
        raise Refused(str(error), field="url") from None
    return endpoint


def archive(*, endpoint: Endpoint) -> None:
    """Not offered any more; attempts that name it can still be read."""
    endpoint.archived_at = timezone.now()
    endpoint.save(update_fields=["archived_at"])


def restore(*, endpoint: Endpoint) -> None:
    """Offered again."""
    endpoint.archived_at = None
    endpoint.save(update_fields=["archived_at"])
