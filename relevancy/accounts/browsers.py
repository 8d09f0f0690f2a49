"""Browsers in which a user has signed in: a signed cookie names the account and the browser.

The cookie gives no access. It only keeps guesses from elsewhere from locking the owner of an account out.
"""

import hashlib
import secrets

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

COOKIE = "known_browser"
MAX_AGE = 180 * 24 * 3600  # seconds
_SALT = "relevancy.accounts.browsers"


def known_browser(request: HttpRequest, account: str) -> str:
    """Returns the id of the browser if this account has signed in there before, otherwise an empty string."""
    try:
        name, _, browser = str(signing.loads(request.COOKIES.get(COOKIE, ""), salt=_SALT, max_age=MAX_AGE)).partition(
            " "
        )
    except signing.BadSignature:
        return ""
    return browser if name == _name(account) else ""


def remember_browser(request: HttpRequest, response: HttpResponse, account: str) -> None:
    """Adds the cookie to the answer to a successful sign-in."""
    browser = known_browser(request, account) or secrets.token_hex(16)
    response.set_cookie(
        COOKIE,
        signing.dumps(f"{_name(account)} {browser}", salt=_SALT),
        max_age=MAX_AGE,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _name(account: str) -> str:
    return hashlib.sha256(account.strip().lower().encode("utf-8", "replace")).hexdigest()
