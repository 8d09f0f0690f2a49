"""Problem details (RFC 9457), the only form of an error of the API, whichever part of the site reports it."""

import json
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core.exceptions import NON_FIELD_ERRORS, PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI, Schema
from ninja.errors import HttpError
from ninja.errors import ValidationError as InvalidRequest
from pydantic import Field

from relevancy import formats, ratings, runs
from relevancy.engines.errors import EngineError
from relevancy.models import UnreadableSecret
from relevancy.models.errors import error_fields, error_text
from relevancy.sandbox.errors import SandboxError
from relevancy.scoring.errors import ScoringError

from .preconditions import PreconditionFailed

CONTENT_TYPE = "application/problem+json"
PREFIX = "/api/"
NOT_FOUND = "There is nothing at this address, or you may not see it."
_DETAILS = {
    400: "The request cannot be read. Check its address and its body.",
    404: NOT_FOUND,
    405: "This address does not support this method. The header Allow names those that it supports.",
    500: "An unexpected error occurred. The server log has the details at the id of the header X-Request-ID.",
}
_KEPT_HEADERS = ("Allow", "Retry-After", "WWW-Authenticate")


class FieldError(Schema):
    """What is wrong with one field of a request."""

    field: str = Field(examples=["value"])
    message: str = Field(examples=["7 is not on the scale of the book Movies. Choose a grade from 0 to 3."])


class Problem(Schema):
    """Why a request failed. `errors` is only filled if fields of the request are invalid."""

    type: str = Field("about:blank", examples=["about:blank"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=[NOT_FOUND])
    errors: list[FieldError] = Field(default_factory=list, examples=[[]])


def problem_response(status: int, detail: str, errors: Iterable[tuple[str, str]] = ()) -> HttpResponse:
    """Returns a problem. errors: pairs of a field and what is wrong with it."""
    problem = Problem(
        type="about:blank",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        errors=[FieldError(field=field, message=message) for field, message in errors],
    )
    content = json.dumps(problem.model_dump(), ensure_ascii=False)
    response = HttpResponse(content, status=status, content_type=CONTENT_TYPE)
    if status == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = "Bearer"
    return response


def add_handlers(api: NinjaAPI) -> None:
    """Makes a problem of every exception that an operation may raise. Others are left to the middleware of the site."""
    handlers: dict[type[Exception], Callable[[Any], HttpResponse]] = {
        Exception: _reraise,
        HttpError: lambda error: problem_response(error.status_code, str(error)),
        InvalidRequest: _invalid_request,
        Http404: lambda error: problem_response(404, NOT_FOUND),
        PermissionDenied: lambda error: problem_response(403, str(error)),
        ValidationError: _invalid_values,
        runs.RunNotAllowed: lambda error: problem_response(409, str(error)),
        UnreadableSecret: lambda error: problem_response(409, str(error)),
        ratings.RatingsChanged: lambda error: problem_response(412, error_text(error)),
        PreconditionFailed: lambda error: problem_response(412, str(error)),
        formats.BadFile: lambda error: problem_response(422, str(error), [("file", str(error))]),
        **dict.fromkeys((EngineError, ScoringError, SandboxError), lambda error: problem_response(422, str(error))),
    }
    for kind, handler in handlers.items():
        api.add_exception_handler(kind, _with_request(handler))


def _with_request(handler: Callable[[Any], HttpResponse]) -> Callable[[HttpRequest, Any], HttpResponse]:
    return lambda request, error: handler(error)


def _reraise(error: Exception) -> HttpResponse:
    raise error


def _invalid_request(error: InvalidRequest) -> HttpResponse:
    """A request that does not have the documented form. A location is such as `("body", "data", "value")`."""
    errors = []
    for entry in error.errors:
        path = [str(part) for part in entry["loc"][2 if entry["loc"][0] == "body" else 1 :]]
        # A member that may have several forms has the name of Python's type in its location: not what the caller wrote.
        path = [part for part in path if not part.startswith(("function-", "list["))]
        if entry["type"] == "unknown_name":
            path.append(entry["ctx"]["name"])
        errors.append((".".join(path), entry["msg"]))
    text = "; ".join(f"{field}: {message}" if field else message for field, message in errors)
    return problem_response(422, text, errors)


def _invalid_values(error: ValidationError) -> HttpResponse:
    """Values that a service refuses."""
    if not error_fields(error):
        return problem_response(422, error_text(error))
    errors = [
        ("" if field == NON_FIELD_ERRORS else field, message)
        for field, messages in error.message_dict.items()
        for message in messages
    ]
    return problem_response(422, error_text(error), errors)


def problem_details(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: makes problems of errors in the API that the rest of the site reports as pages or text, and refuses
    bodies that are too large before they are read."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if not request.path_info.startswith(PREFIX):
            return get_response(request)
        # A file is written to disk while it arrives, and read line by line.
        is_upload = request.content_type == "multipart/form-data"
        most = settings.MAX_REQUEST_SIZE if is_upload else settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        size = request.META.get("CONTENT_LENGTH") or "0"
        if size.isdecimal() and int(size) > most:
            return problem_response(413, f"The body has {int(size):,} bytes; the maximum is {most:,}.")
        response = get_response(request)
        if response.status_code < 400 or response.headers.get("Content-Type") == CONTENT_TYPE:
            return response
        return _as_problem(response)

    return middleware


def _as_problem(response: HttpResponse) -> HttpResponse:
    is_text = response.headers.get("Content-Type", "").startswith("text/plain") and response.status_code not in _DETAILS
    detail = response.content.decode() if is_text else _DETAILS.get(response.status_code, response.reason_phrase)
    problem = problem_response(response.status_code, detail)
    for name in _KEPT_HEADERS:
        if name in response.headers:
            problem[name] = response.headers[name]
    return problem
