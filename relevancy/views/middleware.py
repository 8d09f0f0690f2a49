"""Middleware for every request: sign-in, and caching of pages and fragments."""

import errno
import logging
import sys
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest
from django.db import DataError, InterfaceError, InternalError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template import loader
from django.urls import reverse
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.deprecation import MiddlewareMixin
from django.utils.http import url_has_allowed_host_and_scheme
from django.views import defaults

from relevancy import accounts, events, logs
from relevancy.ratings import RatingRefused
from relevancy.slow_requests import Busy

from .requests import HtmxRequest
from .responses import conflict

log = logging.getLogger("relevancy.views")
request_log = logging.getLogger("relevancy.requests")

DATABASE_BUSY = "The database is busy or cannot be reached. Nothing was saved; try again in a moment."
DISK_FULL = "The disk of the server is full. Nothing was saved; try again when an administrator has made room."
_BUSY = (accounts.HashingBusy, Busy)  # their messages are written for users
MAX_ADDRESS = 24_000  # SQLite's patterns have at most 50,000 bytes, and a character may need two in them
RETRY_SECONDS = "10"
READ_ONLY_TRANSACTION = (
    "25006"  # code of PostgreSQL; a server is read-only while another one takes over, and after that
)
SIGNED_OUT = "You are signed out. Reload the page and sign in; everything you saved is kept."


METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
UNLOGGED = frozenset({"healthz", "readyz", "metrics"})  # asked every few seconds; a failure is logged


def record_requests(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Gives each request an id, which its response has as `X-Request-ID`, logs a line when it is answered, and records an event.

    The id is always a new one: one that a client sends could be another request's.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        with logs.within_request() as reference:
            response = get_response(request)
            response["X-Request-ID"] = reference
            _log_response(request, response.status_code, time.perf_counter() - started)
        return response

    return middleware


def _log_response(request: HttpRequest, status: int, seconds: float) -> None:
    view = request.resolver_match.view_name if request.resolver_match else ""
    # Not `request.user`, which would read the session of those who have not been asked who they are.
    user = getattr(request, "_cached_user", None) or getattr(getattr(request, "auth", None), "user", None)
    fields = {
        "method": request.method,
        "view": view,
        "status": status,
        "milliseconds": round(seconds * 1000),
        "user": None if user is None else user.pk,
    }
    level = logging.DEBUG if view in UNLOGGED and status < 500 else logging.INFO
    text = logs.describe_request(request)
    request_log.log(level, "%s: %s in %s ms", text, status, fields["milliseconds"], extra={"fields": fields})
    method = request.method if request.method in METHODS else "other"
    events.record("request", seconds, view=view, method=str(method), status=str(status))


class SignInRequiredMiddleware(LoginRequiredMiddleware):
    """Redirects users who are signed out to the sign-in page.

    An htmx request gets a 401 with a message instead, because the sign-in page would end up inside the current page.
    """

    def handle_no_permission(self, request: HttpRequest, view_func: Callable[..., Any]) -> HttpResponse:  # type: ignore[override]
        if request.headers.get("HX-Request") == "true":
            return HttpResponse(SIGNED_OUT, status=401, content_type="text/plain; charset=utf-8")
        if request.method not in {"GET", "HEAD"}:
            return redirect_to_login(_referring_page(request))  # a URL that takes a POST need not be a page
        return super().handle_no_permission(request, view_func)


def _referring_page(request: HttpRequest) -> str:
    """The path of the page that sent a form; the home page if the referrer is missing or another site."""
    referer = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(referer, {request.get_host()}):
        return reverse("home")
    parts = urlsplit(referer)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def refuse_addresses(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Answers 400 to a path or query string with U+0000, which PostgreSQL cannot look for; forms report it for their fields. Answers
    414 to addresses that no page of the site sends, because SQLite cannot search for such long texts."""

    def middleware(request: HttpRequest) -> HttpResponse:
        path, query = request.path_info, request.META.get("QUERY_STRING", "")
        if "\0" in path or "%00" in query:
            raise BadRequest("The address contains an invalid character (U+0000).")
        if len(path) + len(query) > MAX_ADDRESS:
            text = f"The address has more than {MAX_ADDRESS:,} characters."
            return HttpResponse(text, status=414, content_type="text/plain; charset=utf-8")
        return get_response(request)

    return middleware


def limit_caches(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Adds `Cache-Control`, so that no proxy keeps a response, a browser asks for a page again each time, and keeps no download; and
    `Vary: HX-Request`, because one URL returns a page or a fragment.

    A browser may keep a page in memory: "Back" brings back what was typed into its forms. Static files do not come here.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if "Cache-Control" not in response.headers:
            is_download = "Content-Disposition" in response.headers
            patch_cache_control(response, private=True, **{"no_store" if is_download else "no_cache": True})
        patch_vary_headers(response, ["HX-Request"])
        return response

    return middleware


class UnavailableMiddleware(MiddlewareMixin):
    """Answers 503 where the database is locked, full, read-only or unreachable, or there is no room for a file: the browser keeps a
    rating and sends it again.

    So it does where too many users sign in at once, or too many requests are slow. Where ratings cannot be changed at present, such as
    during an import, it says why: by 409 to htmx, otherwise on the page that sent the form, or on the home page.
    """

    async_capable = False  # like the views

    def process_exception(self, request: HtmxRequest, error: Exception) -> HttpResponse | None:
        """Handles the errors of views; those of other middleware arrive in `server_error`."""
        if is_unavailable(error):
            return unavailable(request, error)
        if isinstance(error, RatingRefused):
            return conflict(request, _referring_page(request) if request.method == "POST" else reverse("home"), error)
        if is_unstorable(error):
            return defaults.bad_request(request, error)
        return None


def is_unavailable(error: BaseException | None) -> bool:
    """Whether the error means that the same request may succeed in a moment."""
    if isinstance(error, InternalError):  # of PostgreSQL; the others of this class are mistakes
        return getattr(error.__cause__, "sqlstate", None) == READ_ONLY_TRANSACTION
    return is_disk_full(error) or isinstance(error, (OperationalError, InterfaceError, *_BUSY))


def is_disk_full(error: BaseException | None) -> bool:
    """Whether the server has no room for a file, such as one that was uploaded."""
    return isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}


def is_unstorable(error: BaseException) -> bool:
    """Whether the error means that the database has no place for a value, such as an integer of 30 digits.

    The last resort for fields that others declare, such as those of the admin site; our own forms name the field.
    """
    return isinstance(error, DataError) or (isinstance(error, OverflowError) and "SQLite INTEGER" in str(error))


def unavailable(request: HttpRequest, error: BaseException) -> HttpResponse:
    """Returns the 503 page, or a line of text for htmx. Uses no database."""
    text = str(error) if isinstance(error, _BUSY) else DISK_FULL if is_disk_full(error) else DATABASE_BUSY
    reason = " ".join(str(error).split())
    log.error("%s cannot be answered at the moment: %s", logs.describe_request(request), reason)
    if request.headers.get("HX-Request") == "true" or request.path_info.startswith("/api/"):
        response = HttpResponse(text, status=503, content_type="text/plain; charset=utf-8")
    else:
        response = HttpResponse(loader.get_template("503.html").render({"message": text}), status=503)
    response["Retry-After"] = RETRY_SECONDS
    response._has_been_logged = True  # type: ignore[attr-defined]  # Django would write a second line for each
    return response


def server_error(request: HttpRequest) -> HttpResponse:
    """The site's `handler500`: 503 for errors that may pass, otherwise the page for errors."""
    error = sys.exception()
    if error is not None and is_unavailable(error):
        return unavailable(request, error)
    return defaults.server_error(request)
