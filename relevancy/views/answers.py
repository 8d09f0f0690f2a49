"""Answers that several views give."""

import json
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django_htmx.http import HttpResponseClientRedirect, trigger_client_event


def go(request: HttpRequest, url: str) -> HttpResponse:
    """Send the browser to a page, whether htmx asked or a form."""
    return HttpResponseClientRedirect(url) if request.htmx else HttpResponseRedirect(url)  # type: ignore[attr-defined]


def toast(response: HttpResponse, text: str, *, level: str = "info", undo: str = "") -> HttpResponse:
    """Let the page show a short message after an htmx answer, with Undo where there is an address for it."""
    return trigger_client_event(response, "toast", {"text": text, "level": level, "undo": undo})


def said(request: HttpRequest, url: str, text: str, *, undo: str = "", level: int = messages.INFO) -> HttpResponse:
    """Back to a page with a message on it."""
    messages.add_message(request, level, text, extra_tags=f"undo:{undo}" if undo else "")
    return go(request, url)


def refused(request: HttpRequest, url: str, reason: Any) -> HttpResponse:
    """A write that was refused: for htmx a 409 whose text becomes a toast and leaves the page, else back with a message."""
    if request.htmx:  # type: ignore[attr-defined]
        return HttpResponse(str(reason), status=409, content_type="text/plain; charset=utf-8")
    messages.error(request, str(reason))
    return redirect(url)


def as_json(data: Any) -> str:
    """JSON for people to read."""
    return json.dumps(data, ensure_ascii=False, indent=2)
