"""Version 1 of the API: its operations, its errors and its OpenAPI document."""

from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.openapi.docs import Swagger
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from relevancy.hooks import optional_apps

from . import (
    annotations,
    attempts,
    books,
    case_queries,
    case_scorers,
    cases,
    comparisons,
    endpoints,
    files,
    gates,
    links,
    ratings,
    runs,
    scorers,
    sharing,
    users,
)
from .authentication import TooManyRequests
from .inputs import refuse_unknown_parameters
from .problems import CONTENT_TYPE, Problem, add_handlers, problem_response

DESCRIPTION = """\
Everything that a script needs: cases, queries, ratings, attempts, runs, scores and comparisons. The numbers are those of the pages.

Send a token as `Authorization: Bearer TOKEN`; create one on the page “API tokens” of your account. Errors are problem
details (RFC 9457). Lists have pages: send `next` as `cursor`. A GET sends an ETag; with `If-None-Match` it may answer 304.
"""
_ALWAYS = (400, 401, 403, 413, 414, 422, 429, 500, 503)
_REF = "#/components/schemas/Problem"
_ETAG = {
    "description": "Of this answer. Of an object that can be changed, send it as If-Match with the change.",
    "schema": {"type": "string"},
}


class RestApi(NinjaAPI):
    """Describes errors as problem details, and names operations after their functions."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__

    def get_openapi_schema(self, **options: Any) -> OpenAPISchema:
        """Returns the OpenAPI document with the errors that each operation may answer with."""
        document = super().get_openapi_schema(**options)
        problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        document["components"]["schemas"] |= {**problem.pop("$defs"), "Problem": problem}
        for path, item in document["paths"].items():
            for method, operation in item.items():
                _describe(operation, path, method)
        return document


def _describe(operation: dict[str, Any], path: str, method: str) -> None:
    """Adds what every operation has: its errors, 304 and the ETag of a GET."""
    operation["summary"] = operation["operationId"].replace("_", " ").capitalize()
    for parameter in operation.get("parameters", []):
        parameter.pop("examples", None)  # those of the schema remain
    responses = operation["responses"]
    statuses = {
        *_ALWAYS,
        *([404] if "{" in path or path.endswith("/try") else []),
        *([409] if "{" in path or method == "post" else []),
    }
    has_if_match = any(parameter["name"] == "If-Match" for parameter in operation.get("parameters", []))
    if has_if_match:
        statuses.add(412)
    if method == "get":
        responses["304"] = {"description": "Not Modified: the ETag is that of If-None-Match"}
    if method == "get" or has_if_match:
        for status, response in responses.items():
            if str(status) in ("200", "201"):
                response["headers"] = {"ETag": _ETAG}
    for status in sorted(statuses):
        content = {CONTENT_TYPE: {"schema": {"$ref": _REF}}}
        responses[str(status)] = {"description": HTTPStatus(status).phrase, "content": content}
    operation["responses"] = {str(status): responses[status] for status in sorted(responses, key=str)}


api = RestApi(
    title="Relevancy",
    version="1",
    description=DESCRIPTION,
    urls_namespace="api",
    docs=Swagger(settings={"validatorUrl": None}),  # nothing is sent to another site
    docs_url="/docs",
    openapi_url="/openapi.json",
)
add_handlers(api)
api.add_decorator(refuse_unknown_parameters)
for module in (
    cases,
    case_scorers,
    case_queries,
    links,
    ratings,
    attempts,
    runs,
    annotations,
    comparisons,
    gates,
    scorers,
    endpoints,
    books,
    files,
    sharing,
    users,
):
    api.add_router("", module.router)
for app in optional_apps():
    if name := app.find_module("api"):
        api.add_router("", f"{name}.router")


@api.exception_handler(TooManyRequests)
def _too_many_requests(request: HttpRequest, error: TooManyRequests) -> HttpResponse:
    response = problem_response(429, str(error))
    response["Retry-After"] = str(error.seconds)
    return response
