"""Requests with a file are slow requests, from the moment the file arrives to the response."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest, HttpResponse

from relevancy.slow_requests import READING_SECONDS, slow_request


def limit_uploads(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: ends what `SlowUploadHandler` begins."""

    def middleware(request: HttpRequest) -> HttpResponse:
        with ExitStack() as request.uploads:  # type: ignore[attr-defined]
            return get_response(request)

    return middleware


class SlowUploadHandler(FileUploadHandler):
    """The first handler of every file. Raises `Busy` if too many files are being read."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        assert self.request is not None
        self.request.uploads.enter_context(slow_request(settings.SLOW_THREADS, seconds=READING_SECONDS))  # type: ignore[attr-defined]

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """Leaves the content to the next handler."""
        return raw_data

    def file_complete(self, file_size: int) -> None:
        """Leaves the file to the next handler."""
