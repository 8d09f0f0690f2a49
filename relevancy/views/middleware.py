"""Middleware for every request: sign-in, and caching of pages and fragments."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme

SIGNED_OUT = "You are signed out. Reload the page and sign in; everything you saved is kept."


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


def vary_on_htmx(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Adds `Vary: HX-Request`, because one URL returns a page or a fragment and caches must keep them apart."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        patch_vary_headers(response, ["HX-Request"])
        return response

    return middleware
