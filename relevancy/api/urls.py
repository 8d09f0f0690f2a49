"""Addresses of the REST API."""

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, URLResolver, path, re_path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import conditional_page, require_GET

from .v1 import api


@csrf_exempt
@login_not_required
def _unknown_address(request: HttpRequest) -> HttpResponse:
    raise Http404


@login_not_required
@require_GET
def _docs(request: HttpRequest) -> HttpResponse:
    """The documentation of the newest version."""
    return redirect("api:openapi-view")


def _open(pattern: URLPattern | URLResolver) -> URLPattern | URLResolver:
    """Leaves signing in to tokens instead of sessions, and answers 304 where nothing has changed."""
    assert isinstance(pattern, URLPattern)
    pattern.callback = login_not_required(conditional_page(pattern.callback))
    return pattern


_patterns, _app, _namespace = api.urls
urlpatterns = [
    path("api/v1/", ([_open(pattern) for pattern in _patterns], _app, _namespace)),
    path("api/docs", _docs, name="api_docs"),
    re_path("^api/", _unknown_address, name="api_unknown"),
]
