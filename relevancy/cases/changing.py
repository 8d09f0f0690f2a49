"""Changes to an endpoint that exists."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction

from relevancy.models import Endpoint

from . import endpoints
from .errors import Refused

CHANGED = ("name", "engine", "url", "options", "credentials", "headers", "parallel", "per_minute")


def change_endpoint(
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
    """Another address, name, pace, or other options in place of all there were, where they are given.

    Secrets that are not given stay, unless `clear`; at another address they are asked for again.
    Raises `Refused` naming the field; then nothing is changed.
    """
    moved = (url.strip(), engine) != (endpoint.url, endpoint.engine)
    kept = {} if clear else endpoint.credentials
    kept_headers = {} if clear else endpoint.headers
    if moved and ((kept and not credentials) or (kept_headers and not headers)):
        raise Refused(
            "The address changed: enter the credentials and headers again, or let the stored ones be forgotten.",
            field="url",
        )
    checked = endpoints.draft(
        name=name,
        engine=engine,
        url=url,
        by=endpoint.owner,
        options=endpoint.options if options is None else options,
        credentials=credentials or kept,
        headers=headers or kept_headers,
        parallel=parallel,
        per_minute=per_minute,
    )
    for field in CHANGED:
        setattr(endpoint, field, getattr(checked, field))
    try:
        with transaction.atomic():
            endpoint.save(update_fields=CHANGED)
    except IntegrityError:
        raise Refused(f"There is an endpoint called {checked.name} already.", field="name") from None
