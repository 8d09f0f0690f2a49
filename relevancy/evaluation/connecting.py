"""From an endpoint as remembered to an engine that can be asked."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

from relevancy import engines
from relevancy.models import Endpoint


@lru_cache(maxsize=1)
def _rules(hosts: str, private_allowed: bool) -> engines.AddressRules:
    return engines.AddressRules.parse(hosts, private_allowed=private_allowed)


def connection(endpoint: Endpoint) -> engines.Connection:
    """What an adapter needs to know of an endpoint, credentials included: never store or log it."""
    return engines.Connection(
        engine=endpoint.engine,
        url=endpoint.url,
        rules=_rules(settings.ENDPOINT_HOSTS, settings.ENDPOINT_PRIVATE_ALLOWED),
        options=endpoint.options,
        credentials=endpoint.credentials,
        headers=endpoint.headers,
        data_dir=Path(settings.DATA_DIR) / endpoint.engine,
        parallel=endpoint.parallel,
        per_minute=endpoint.per_minute,
        **_timeouts(endpoint.options),
    )


def _timeouts(options: dict[str, Any]) -> dict[str, float]:
    """`connect_timeout` and `read_timeout` of the endpoint's options, seconds."""
    return {name: float(options[name]) for name in ("connect_timeout", "read_timeout") if options.get(name)}


def connect(endpoint: Endpoint) -> engines.Engine:
    """The engine behind an endpoint, ready to be asked. Raises `EngineError` for an address that is not allowed."""
    return engines.connect(connection(endpoint))
