"""From an endpoint as remembered to an engine that can be asked."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

from relevancy import engines
from relevancy.models import Endpoint, UnreadableSecret

LONGEST = 600  # seconds that an endpoint may ask to be waited for


@lru_cache(maxsize=1)
def _rules(hosts: str, private_allowed: bool) -> engines.AddressRules:
    return engines.AddressRules.parse(hosts, private_allowed=private_allowed)


def connection(endpoint: Endpoint) -> engines.Connection:
    """What an adapter needs to know of an endpoint, credentials included: never store or log it."""
    try:
        credentials, headers = endpoint.credentials, endpoint.headers
    except UnreadableSecret as error:
        raise engines.EndpointRefused(f"Endpoint {endpoint.name} was not asked. {error}") from None
    return engines.Connection(
        engine=endpoint.engine,
        url=endpoint.url,
        rules=_rules(settings.ENDPOINT_HOSTS, settings.ENDPOINT_PRIVATE_ALLOWED),
        options=endpoint.options,
        credentials=credentials,
        headers=headers,
        data_dir=Path(settings.DATA_DIR) / endpoint.engine,
        parallel=endpoint.parallel,
        per_minute=endpoint.per_minute,
        **_timeouts(endpoint.options),
    )


def _timeouts(options: dict[str, Any]) -> dict[str, float]:
    """`connect_timeout` and `read_timeout` of the endpoint's options, seconds. Raises `EngineError`."""
    return {name: _seconds(name, options[name]) for name in ("connect_timeout", "read_timeout") if name in options}


def _seconds(name: str, value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= LONGEST:
        return float(value)
    raise engines.EngineError(f"The option {name} is {value!r}; write seconds, more than 0 and at most {LONGEST}.")


def connect(endpoint: Endpoint) -> engines.Engine:
    """The engine behind an endpoint, ready to be asked. Raises `EngineError` for an address that is not allowed."""
    return engines.connect(connection(endpoint))


def check_address(endpoint: Endpoint) -> None:
    """Whether the endpoint's address can be one, and leads where this installation may ask. Raises `EngineError`.

    A name that is not known (yet) passes: where it leads is checked again before every run.
    """
    connect(endpoint).close()
    if not engines.get(endpoint.engine).example_url.startswith("http"):
        return
    try:
        connection(endpoint).rules.check(endpoint.url)
    except engines.EndpointUnreachable as error:
        if not isinstance(error.__cause__, OSError | UnicodeError):
            raise
