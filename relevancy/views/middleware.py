"""What every response gets."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme

SIGNED_OUT = "You are signed out. Reload the page and sign in; what is saved is not lost."


class SignInFirst(LoginRequiredMiddleware):
    """Who is signed out is sent to the sign-in page; an htmx request is told so, or that page would land inside another one."""

    def handle_no_permission(self, request: HttpRequest, view_func: Callable[..., Any]) -> HttpResponse:  # type: ignore[override]
        if request.headers.get("HX-Request") == "true":
            return HttpResponse(SIGNED_OUT, status=401, content_type="text/plain; charset=utf-8")
        if request.method not in {"GET", "HEAD"}:
            return redirect_to_login(_came_from(request))  # what was posted to may not be a page
        return super().handle_no_permission(request, view_func)


def _came_from(request: HttpRequest) -> str:
    """The page of ours that sent a form, else the home page."""
    sender = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(sender, {request.get_host()}):
        return reverse("home")
    parts = urlsplit(sender)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def vary_on_htmx(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """One view has two faces, the page and its fragment: caches must keep them apart."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        patch_vary_headers(response, ["HX-Request"])
        return response

    return middleware
