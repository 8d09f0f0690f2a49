"""Endpoints: created, changed and archived."""

import copy
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from relevancy import engines
from relevancy.models import Endpoint, Role, Team, User
from relevancy.models.saving import clean_and_save

from .connections import check_address


def may_create(user: User) -> bool:
    """Returns whether the user may enter addresses that this server sends requests to: admins and editors of a team."""
    return bool(user.is_superuser or user.memberships.filter(role__gte=Role.EDITOR).exists())


def create(*, by: User, teams: tuple[Team, ...] = (), **values: Any) -> Endpoint:
    """Creates an endpoint from the arguments of `build_endpoint`. Raises `ValidationError` naming the field."""
    endpoint = build_endpoint(by=by, **values)
    with transaction.atomic():
        clean_and_save(endpoint)
        endpoint.teams.add(*teams)
    return endpoint


def build_endpoint(
    *,
    name: str,
    engine: str,
    url: str,
    by: User,
    options: Mapping[str, Any] | None = None,
    credentials: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    parallel: int = 8,
    per_minute: int = 0,
) -> Endpoint:
    """Returns a validated endpoint that is not saved.

    Validates the URL and checks that its host is allowed, which can look up its name: never call this in a transaction.
    Does not contact the engine; see `test_connection`. Raises `ValidationError` naming the field.
    """
    endpoint = Endpoint(
        name=name,
        engine=engine,
        url=url,
        owner=by,
        options=dict(options or {}),
        credentials=dict(credentials or {}),
        headers=dict(headers or {}),
        parallel=parallel,
        per_minute=per_minute,
    )
    _validate(endpoint)
    return endpoint


def _validate(endpoint: Endpoint) -> None:
    endpoint.full_clean(exclude={"owner"}, validate_unique=False)
    if not isinstance(endpoint.options.get("query_options", {}), dict):
        raise ValidationError({"options": 'The option query_options must be a JSON object, such as {"lang": "en"}.'})
    try:
        check_address(endpoint)
    except engines.UnknownEngine as error:
        raise ValidationError({"engine": str(error)}) from None
    except engines.OptionError as error:
        raise ValidationError({f"option_{error.option}": str(error)}) from None
    except engines.EngineError as error:
        raise ValidationError({"url": str(error)}) from None


def update(
    *,
    endpoint: Endpoint,
    name: str,
    engine: str,
    url: str,
    credentials: Mapping[str, str],
    headers: Mapping[str, str],
    parallel: int,
    per_minute: int,
    options: Mapping[str, Any] | None = None,
    clear: bool = False,
) -> None:
    """Changes an endpoint. Raises `ValidationError` naming the field; then nothing is changed.

    options: replace all present ones; None keeps them.
    credentials, headers: empty ones keep the stored ones, unless `clear` is set or the address or engine changes: stored
    secrets are never sent to another address.
    """
    stored_credentials, stored_headers = ({}, {}) if clear else (endpoint.credentials, endpoint.headers)
    is_moved = (url.strip(), engine) != (endpoint.url, endpoint.engine)
    if is_moved and ((stored_credentials and not credentials) or (stored_headers and not headers)):
        message = "The address changed. Enter the credentials and headers again, or delete the stored ones."
        raise ValidationError({"url": message})
    changes = {
        "name": name,
        "engine": engine,
        "url": url,
        "options": endpoint.options if options is None else dict(options),
        "credentials": dict(credentials or stored_credentials),
        "headers": dict(headers or stored_headers),
        "parallel": parallel,
        "per_minute": per_minute,
    }
    if (engine, _server(url)) != (endpoint.engine, _server(endpoint.url)):
        # An administrator has allowed these at another server.
        changes |= {"allowed_handlers": "", "allowed_indexes": ""}
    changed = copy.copy(endpoint)
    for attribute, value in changes.items():
        setattr(changed, attribute, value)
    _validate(changed)
    clean_and_save(endpoint, **changes)


def _server(url: str) -> str:
    """Returns the part of an address that names the server."""
    scheme, _, rest = url.strip().partition("://")
    return f"{scheme}://{rest.partition('/')[0]}".lower()


def archive(*, endpoint: Endpoint) -> None:
    """Stops offering the endpoint; attempts and runs keep it. `restore` undoes it."""
    endpoint.archived_at = timezone.now()
    endpoint.save(update_fields=["archived_at"])


def restore(*, endpoint: Endpoint) -> None:
    """Offers an archived endpoint again."""
    endpoint.archived_at = None
    endpoint.save(update_fields=["archived_at"])
