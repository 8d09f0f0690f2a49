"""Options of an `http` endpoint: how requests are sent, and where the results are in the response."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from relevancy.engines.errors import OptionError, TemplateError
from relevancy.engines.templates.template import Template, parse_template
from relevancy.engines.types import OptionInfo

from .expressions import Expression, compile_expression

Method = Literal["GET", "POST"]
METHODS: tuple[Method, ...] = ("GET", "POST")
EXAMPLE_TEMPLATES: Mapping[str, str] = {"GET": "q=#$query##", "POST": '{"query": "#$query##"}'}
MAX_MAPPER_LENGTH = 50_000
_DEFAULT_TEST_QUERY = "test"

_PARAMETER = re.compile(r"[^\s&=#?]{1,100}")
_LOOKUP = re.compile(r"(/(?!/)|\?)[^\s#\\]*")

OPTIONS: tuple[OptionInfo, ...] = (
    OptionInfo(
        "method",
        "Method",
        "GET sends a query string. POST sends a JSON body or, if the template does not begin with {, a form.",
        "choice",
        choices=METHODS,
    ),
    OptionInfo(
        "template",
        "Request template",
        "The query template suggested to new cases, and used to test the endpoint: q=#$query##&size=20, or a JSON body.",
        "template",
        decides_results=False,
    ),
    OptionInfo(
        "hits",
        "List of hits",
        "JMESPath in the response, such as response.results; @ if the response is the list.",
        "expression",
        required=True,
    ),
    OptionInfo("id", "Document id", "JMESPath in a hit; default: id. It becomes the field id.", "expression"),
    OptionInfo(
        "document",
        "Fields of a hit",
        "JMESPath in a hit to the object with its fields; default: the hit.",
        "expression",
    ),
    OptionInfo("total", "Number of hits", "JMESPath in the response, such as response.total.", "expression"),
    OptionInfo("score", "Score", "JMESPath in a hit.", "expression", advanced=True),
    OptionInfo(
        "error",
        "Error in a response",
        "JMESPath in the response, such as error.message. What it finds fails the query, although the status is 200.",
        "expression",
        advanced=True,
    ),
    OptionInfo(
        "mapper",
        "Mapper script",
        "JavaScript instead of the expressions, as in Quepid: docsMapper = function (data) { … } returns the documents, each with "
        "an id; numberOfResultsMapper returns their total.",
        "script",
        advanced=True,
    ),
    OptionInfo(
        "rows_parameter",
        "Parameter for the number of hits",
        "Such as size; in a JSON body with dots: page.size. Without it, the results are cut to the depth.",
        "text",
        advanced=True,
    ),
    OptionInfo(
        "start_parameter", "Parameter for the first hit", "Counted from 0, such as from.", "text", advanced=True
    ),
    OptionInfo(
        "test_query",
        "Test query",
        "Sent to test the endpoint and to find out its fields; default: test.",
        "text",
        advanced=True,
        decides_results=False,
    ),
    OptionInfo(
        "lookup",
        "Document by id",
        "Path on the same host with {id}, such as /products/{id}, or ?id={id} at the address itself.",
        "text",
        advanced=True,
        decides_results=False,
    ),
)


@dataclass(frozen=True)
class HttpApiOptions:
    """Parsed options; those that are not set are None or empty. Either `hits` or `mapper` is set."""

    method: Method
    hits: Expression | None
    id: Expression | None
    document: Expression | None
    total: Expression | None
    score: Expression | None
    error: Expression | None
    mapper: str
    rows_parameter: str
    start_parameter: str
    template: Template | None
    test_query: str
    lookup: str


def parse_options(options: Mapping[str, Any]) -> HttpApiOptions:
    """Checks and compiles an endpoint's options; ignores those of other engines.

    Raises `OptionError` naming the option and, in an expression or template, the location.
    """
    texts = {info.name: _text(options, info.name) for info in OPTIONS}
    method = next((method for method in METHODS if method == (texts["method"].upper() or "GET")), None)
    if method is None:
        raise OptionError("method", f"“{texts['method']}” is not supported.", hint="Choose GET or POST.")
    if texts["mapper"]:
        _check_mapper(texts)
    elif not texts["hits"]:
        raise OptionError(
            "hits",
            "the expression for the list of hits is missing.",
            hint="Write JMESPath, such as response.results.",
        )
    expressions = {
        info.name: compile_expression(info.name, texts[info.name]) if texts[info.name] else None
        for info in OPTIONS
        if info.kind == "expression"
    }
    return HttpApiOptions(
        method=method,
        **expressions,
        mapper=texts["mapper"],
        rows_parameter=_parameter("rows_parameter", texts),
        start_parameter=_parameter("start_parameter", texts),
        template=_template(texts["template"], method),
        test_query=texts["test_query"] or _DEFAULT_TEST_QUERY,
        lookup=_lookup(texts["lookup"]),
    )


def example_template(options: Mapping[str, Any]) -> str:
    """Returns the template suggested for an endpoint: its own, else one that many APIs understand."""
    template = str(options.get("template") or "").strip()
    method = str(options.get("method") or "GET").upper()
    return template or EXAMPLE_TEMPLATES.get(method, EXAMPLE_TEMPLATES["GET"])


def _text(options: Mapping[str, Any], name: str) -> str:
    value = options.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise OptionError(name, f"it is {value!r}, not a string.", hint="Write it in quotes.")
    return value.strip()


def _check_mapper(texts: Mapping[str, str]) -> None:
    """Raises `OptionError` if a mapper script is too long, or if there are expressions as well."""
    if len(texts["mapper"]) > MAX_MAPPER_LENGTH:
        problem = f"the script has {len(texts['mapper']):,} characters; at most {MAX_MAPPER_LENGTH:,} are allowed."
        raise OptionError("mapper", problem)
    if others := [info.name for info in OPTIONS if info.kind == "expression" and texts[info.name]]:
        raise OptionError(
            "mapper",
            f"the script reads the whole response, but there are expressions, too: {', '.join(others)}.",
            hint="Delete the script or the expressions.",
        )


def _parameter(name: str, texts: Mapping[str, str]) -> str:
    text = texts[name]
    if text and (not _PARAMETER.fullmatch(text) or "" in text.split(".")):
        raise OptionError(
            name, f"“{text}” is not the name of a parameter.", hint="Write a name such as size, or page.size."
        )
    return text


def _template(text: str, method: Method) -> Template | None:
    if not text:
        return None
    try:
        template = parse_template(text, "either")
    except TemplateError as error:
        raise OptionError("template", str(error)) from error
    if method == "GET" and template.syntax == "json":
        raise OptionError(
            "template",
            "a JSON body cannot be sent with GET.",
            hint="Choose POST, or write a query string such as q=#$query##.",
        )
    return template


def _lookup(text: str) -> str:
    if text and (not _LOOKUP.fullmatch(text) or text.count("{id}") != 1 or ".." in text):
        raise OptionError(
            "lookup",
            f"“{text}” is not the path of a document.",
            hint="Begin with / or ?, and write {id} once, such as /products/{id}.",
        )
    return text
