"""HTTP responses that work for htmx requests and for forms without JavaScript."""

import json
from collections.abc import Iterable
from typing import IO
from urllib.parse import urldefrag

from django.contrib import messages
from django.http import FileResponse, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django_htmx.http import HttpResponseClientRedirect, HttpResponseClientRefresh, trigger_client_event

from relevancy import tasks
from relevancy.formats import exports
from relevancy.models import Book, Case, Run, User
from relevancy.models.errors import error_text

from .requests import HtmxRequest


def redirect_to(request: HtmxRequest, url: str) -> HttpResponse:
    """Redirects the browser to a page, by a header for htmx. The page that is shown is loaded again: to another of its anchors the
    browser would only scroll."""
    if not request.htmx:
        return HttpResponseRedirect(url)
    is_shown = urldefrag(request.htmx.current_url_abs_path or "").url == urldefrag(url).url
    return HttpResponseClientRefresh() if is_shown else HttpResponseClientRedirect(url)


def redirect_with_message(
    request: HtmxRequest, url: str, text: str, *, undo: str = "", level: int = messages.INFO
) -> HttpResponse:
    """Redirects to a page that shows a message. undo: the URL its Undo button posts to."""
    messages.add_message(request, level, text, extra_tags=f"undo:{undo}" if undo else "")
    return redirect_to(request, url)


def conflict(request: HtmxRequest, url: str, reason: Exception | str) -> HttpResponse:
    """Refuses a write: 409 with the reason as a toast for htmx, otherwise back to the page with an error message."""
    text = error_text(reason) if isinstance(reason, Exception) else reason
    if request.htmx:
        return HttpResponse(text, status=409, content_type="text/plain; charset=utf-8")
    messages.error(request, text)
    return redirect(url)


def refresh_after_conflict(request: HtmxRequest, url: str, reason: Exception | str) -> HttpResponse:
    """Refuses a write of a page that is outdated as a whole: 409, and the page is loaded again with the reason as a message."""
    response = conflict(request, url, reason)
    if request.htmx:
        messages.error(request, response.content.decode())
        response["HX-Refresh"] = "true"
    return response


def download(row: Case | Run | Book, name: str, *, by: User) -> HttpResponseBase:
    """Returns a file to download, or redirects to the page that shows how far the worker is that makes it. name: see `files_of`."""
    export = exports.files_of(type(row))[name]
    if not export.is_large(row):
        return export_file(export, row, export.open(row, by))
    return redirect("export", tasks.enqueue_export(row=row, name=name, by=by).pk)


def export_file[M](export: exports.Export[M], row: M, file: IO[bytes]) -> FileResponse:
    """Returns an open file to download, which is closed then."""
    return FileResponse(file, as_attachment=True, filename=export.file_name(row), content_type=export.full_content_type)


def as_file[R: HttpResponseBase](response: R, name: str, ending: str) -> R:
    """Lets the browser save a response as a file. name: of what it contains, from which that of the file is made."""
    filename = f"{slugify(name) or 'export'}{ending}"
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=filename) or ""
    return response


def csv_file(lines: Iterable[str], name: str, ending: str) -> StreamingHttpResponse:
    """Returns a CSV file to download; see `as_file`."""
    return as_file(StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8"), name, ending)


def toast(response: HttpResponse, text: str, *, level: str = "info", undo: str = "") -> HttpResponse:
    """Adds a short message to an htmx response. undo: the URL its Undo button posts to."""
    return trigger_client_event(response, "toast", {"text": text, "level": level, "undo": undo})


def pretty_json(data: object) -> str:
    """Returns indented JSON with Unicode characters as they are."""
    return json.dumps(data, ensure_ascii=False, indent=2)
