"""Connections of stored endpoints to their engines."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from django.conf import settings

from relevancy import engines
from relevancy.models import Endpoint, UnreadableSecret
from relevancy.slow_requests import Busy, slow_request

from .indexes import check_owner, data_folder
from .schedule import reserve

MAX_TIMEOUT = 600  # seconds
MAX_PAGE_TIMEOUT = 30.0  # seconds that a page waits for a response, however long the endpoint's own time-out is


def address_rules() -> engines.AddressRules:
    """Returns which addresses this server may contact, by its settings."""
    return engines.AddressRules.parse(settings.ENDPOINT_HOSTS, private_allowed=settings.ENDPOINT_PRIVATE_ALLOWED)


def connection(endpoint: Endpoint) -> engines.Connection:
    """Returns what an adapter needs to know of an endpoint, including credentials: never store or log it."""
    try:
        credentials, headers = endpoint.credentials, endpoint.headers
    except UnreadableSecret as error:
        raise engines.EndpointRefused(f"Endpoint {endpoint.name} was not contacted. {error}") from None
    return engines.Connection(
        engine=endpoint.engine,
        url=endpoint.url,
        rules=address_rules(),
        options=endpoint.options,
        credentials=credentials,
        headers=headers,
        data_dir=data_folder(endpoint.engine),
        parallel=endpoint.parallel,
        per_minute=endpoint.per_minute,
        reserve=partial(reserve, endpoint.pk, endpoint.per_minute) if endpoint.pk else None,
        allowed_handlers=tuple(endpoint.allowed_handlers.split()),
        allowed_indexes=tuple(endpoint.allowed_indexes.split()),
        label=str(endpoint.pk or "new"),
        **timeouts(endpoint.options),
    )


def connect(endpoint: Endpoint, *, parallel: int | None = None) -> engines.Engine:
    """Returns the endpoint's adapter without contacting the engine.

    parallel: how many requests it sends at a time, if that is not as many as the endpoint answers.

    Raises `EngineError` for an invalid address, and for an index on this server that belongs to another user.
    """
    check_owner(endpoint)
    own = connection(endpoint)
    return engines.connect(replace(own, parallel=parallel or own.parallel))


@contextmanager
def connect_for_page(endpoint: Endpoint) -> Iterator[engines.Engine]:
    """As `connect`, for a request that is sent while a page waits, and as a context manager.

    It is a slow request: an engine that hangs leaves threads for other pages. A response may take 30 seconds. Raises `Busy`
    and `EngineError`. Engines on this server do not hang and are not counted.
    """
    if engines.get(endpoint.engine).address.kind != "url":
        with connect(endpoint) as engine:
            yield engine
        return
    with slow_request(settings.SLOW_THREADS):
        own = connection(endpoint)
        timeouts = {name: min(getattr(own, name), MAX_PAGE_TIMEOUT) for name in ("connect_timeout", "read_timeout")}
        with engines.connect(replace(own, **timeouts)) as engine:
            yield engine


def check_address(endpoint: Endpoint) -> None:
    """Validates the address and options, and checks that the host is allowed. Does not contact the engine.

    Raises `EngineError`. A host name that cannot be resolved (yet) passes: it is checked again before every run.
    """
    connect(endpoint).close()
    if engines.get(endpoint.engine).address.kind != "url":
        return
    try:
        connection(endpoint).rules.check(endpoint.url)
    except engines.EndpointUnreachable as error:
        if not isinstance(error.__cause__, OSError | UnicodeError):
            raise


def known_queries(endpoint: Endpoint, limit: int | None = None) -> list[str]:
    """Returns the only queries that the endpoint has results for; empty if it answers any query, or cannot be read.

    limit: of queries, of which a file of rankings may have millions; None means all of them.
    """
    adapter = engines.find(endpoint.engine)
    if adapter is None or not adapter.abilities.list_queries:
        return []
    try:
        with connect_for_page(endpoint) as engine:
            return list(islice(engine.known_queries(), limit))
    except (engines.EngineError, Busy):
        return []


def sample_query(endpoint: Endpoint) -> str:
    """Returns a query that the endpoint certainly has results for; empty if none is known."""
    return next(iter(known_queries(endpoint, 1)), "")


def timeouts(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns `connect_timeout` and `read_timeout` of the endpoint's options in seconds. Raises `EngineError`."""
    return {name: _seconds(name, options[name]) for name in ("connect_timeout", "read_timeout") if name in options}


def _seconds(name: str, value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= MAX_TIMEOUT:
        return float(value)
    raise engines.EngineError(
        f"The option {name} is {value!r}.", hint=f"Write seconds: a number above 0 and at most {MAX_TIMEOUT}."
    )
