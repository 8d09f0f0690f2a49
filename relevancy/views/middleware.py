"""What every response gets."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

SIGNED_OUT = "You are signed out. Reload the page and sign in; what is saved is not lost."


class SignInFirst(LoginRequiredMiddleware):
    """Who is signed out is sent to the sign-in page; an htmx request is told so, or that page would land inside another one."""

    def handle_no_permission(self, request: HttpRequest, view_func: Callable[..., Any]) -> HttpResponse:  # type: ignore[override]
        if request.headers.get("HX-Request") == "true":
            return HttpResponse(SIGNED_OUT, status=401, content_type="text/plain; charset=utf-8")
        return super().handle_no_permission(request, view_func)


def vary_on_htmx(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """One view has two faces, the page and its fragment: caches must keep them apart."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        patch_vary_headers(response, ["HX-Request"])
        return response

    return middleware
