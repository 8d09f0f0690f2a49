"""How often signing in may fail.

Three counters, each for 15 minutes from its first failure:

- an address: 30 failures, whatever accounts it tried,
- an account, from one address: 10 failures,
- an account, from all addresses: 100 failures.

A browser that has signed in to the account before (`browsers`) has a counter of its own instead, with 10 failures: guesses
from elsewhere never lock it out. Every lock ends by itself, and a password is not even hashed while it lasts.
"""

import hashlib
import ipaddress
import math
from collections.abc import Iterable, Mapping
from datetime import timedelta

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db.models import F
from django.http import HttpRequest
from django.utils import timezone

from relevancy.models import SignInCounter

WINDOW = timedelta(minutes=15)
PER_ADDRESS, PER_ACCOUNT_AND_ADDRESS, PER_ACCOUNT, PER_BROWSER = 30, 10, 100, 10
REQUESTS_PER_ADDRESS = 20  # requests for an account or a password, from one address
REQUESTS_PER_ACCOUNT = 3  # requests for a password: each is a message to the user
TOO_MANY = "too_many_failures"
SIGN_IN_TEXT = (
    "Too many failed attempts to sign in. Try again in {wait}, or from a browser in which you have signed in before."
)


def counters(*, account: str, address: str, browser: str = "") -> dict[str, int]:
    """Returns the counters of an attempt: `{name: maximum}`. browser: the id of a browser that the account knows."""
    account = account.strip().lower()
    if browser:
        return {f"browser {browser} {account}": PER_BROWSER}
    return {
        f"address {address}": PER_ADDRESS,
        f"account {account} from {address}": PER_ACCOUNT_AND_ADDRESS,
        f"account {account}": PER_ACCOUNT,
    }


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()


def check(limits: Mapping[str, int], text: str = SIGN_IN_TEXT) -> None:
    """Raises `ValidationError` if one of the counters has reached its maximum. One SQL statement.

    text: the message, in which `{wait}` is replaced by how long to wait.
    """
    now = timezone.now()
    maxima = {_digest(name): maximum for name, maximum in limits.items()}
    reached = [
        counter.expires_at
        for counter in SignInCounter.objects.filter(pk__in=maxima, expires_at__gt=now)
        if counter.failures >= maxima[counter.key]
    ]
    if reached:
        minutes = math.ceil((max(reached) - now) / timedelta(minutes=1))
        raise ValidationError(text.format(wait=f"{minutes} minute{'s' if minutes > 1 else ''}"), code=TOO_MANY)


def count_request(*, action: str, address: str, account: str = "") -> None:
    """Counts a request that anybody can send, such as for an account. Raises `ValidationError` if an address sent too many, or
    if too many were sent for an account, whether or not there is such an account.

    Those that are refused are not counted.
    """
    limits = {f"{action} from {address}": REQUESTS_PER_ADDRESS}
    if account:
        limits[f"{action} for {account}"] = REQUESTS_PER_ACCOUNT
    check(limits, "Too many requests. Try again in {wait}.")
    count_failure(limits)


def count_failure(limits: Iterable[str]) -> None:
    """Adds a failure to each counter, and forgets those that have expired."""
    now = timezone.now()
    SignInCounter.objects.filter(expires_at__lte=now).delete()
    for key in sorted(map(_digest, limits)):
        SignInCounter.objects.update_or_create(
            pk=key,
            defaults={"failures": F("failures") + 1},
            create_defaults={"failures": 1, "expires_at": now + WINDOW},
        )


def client_address(request: HttpRequest) -> str:
    """Returns the address that a request came from; of an IPv6 address, its network of 64 bits.

    Behind `settings.PROXIES` proxies it is the entry of X-Forwarded-For that the outermost of them has added.
    """
    address = str(request.META.get("REMOTE_ADDR", ""))
    forwarded = [part.strip() for part in str(request.META.get("HTTP_X_FORWARDED_FOR", "")).split(",") if part.strip()]
    if settings.PROXIES and forwarded:
        address = forwarded[-min(settings.PROXIES, len(forwarded))]
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:100]
    if isinstance(parsed, ipaddress.IPv6Address):
        mapped = parsed.ipv4_mapped
        return str(mapped) if mapped else str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)
