"""The options of an `http` endpoint: how an API is asked, and where in its answer the results stand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .errors import TemplateError
from .json_api_expressions import Expression, OptionError, compile_expression
from .templates import Template, parse_template

Method = Literal["GET", "POST"]
METHODS: tuple[Method, ...] = ("GET", "POST")
EXAMPLES: Mapping[str, str] = {"GET": "q=#$query##", "POST": '{"query": "#$query##"}'}

_PARAMETER = re.compile(r"[^\s&=#?]{1,100}")
_LOOKUP = re.compile(r"(/(?!/)|\?)[^\s#\\]*")


@dataclass(frozen=True)
class OptionInfo:
    """An option as forms and documentation show it. `needed`: there is no default for it."""

    name: str
    label: str
    help: str
    kind: Literal["method", "expression", "template", "text"]
    needed: bool = False


OPTIONS: tuple[OptionInfo, ...] = (
    OptionInfo("method", "Method", "GET sends a query string; POST a JSON body or, if it does not begin with {, a form.", "method"),
    OptionInfo(
        "template",
        "How it is asked",
        "The query template offered to new cases, and what the endpoint is tried with: q=#$query##&size=20, or a JSON body.",
        "template",
    ),
    OptionInfo("hits", "List of hits", "JMESPath in the answer, such as response.results; @ if it is the list.", "expression", True),
    OptionInfo("id", "Document id", "JMESPath in a hit; id if left empty. It becomes the field id.", "expression"),
    OptionInfo("document", "Fields of a hit", "JMESPath in a hit to the object of its fields; else the hit itself.", "expression"),
    OptionInfo("total", "Number of hits", "JMESPath in the answer, such as response.total.", "expression"),
    OptionInfo("score", "Score", "JMESPath in a hit.", "expression"),
    OptionInfo(
        "rows_parameter",
        "Parameter for how many",
        "Such as size; with dots within a JSON body: page.size. If left empty, what comes is cut to the depth.",
        "text",
    ),
    OptionInfo("start_parameter", "Parameter for the first place", "Counted in hits from 0, such as from.", "text"),
    OptionInfo("test_query", "Test query", "Asked to find out whether it answers, and its fields; test if left empty.", "text"),
    OptionInfo(
        "lookup",
        "A document by its id",
        "Path on the same host with {id}, such as /products/{id}, or ?id={id} at the address itself.",
        "text",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class JsonApiOptions:
    """Options that were read. What is not given is None or empty; `id` is then `id` in the hit, or in its fields."""

    method: Method
    hits: Expression
    id: Expression | None
    document: Expression | None
    total: Expression | None
    score: Expression | None
    rows_parameter: str
    start_parameter: str
    template: Template | None
    test_query: str
    lookup: str


def read_options(options: Mapping[str, Any]) -> JsonApiOptions:
    """Check and compile an endpoint's options; what belongs to no `http` endpoint is passed over.

    Raises `OptionError` naming the option and, in an expression or template, the place.
    """
    texts = {info.name: _text(options, info.name) for info in OPTIONS}
    method = next((method for method in METHODS if method == (texts["method"].upper() or "GET")), None)
    if method is None:
        raise OptionError("method", f"“{texts['method']}” is not possible.", todo="Choose GET or POST.")
    if not texts["hits"]:
        raise OptionError(
            "hits",
            "say where the list of hits stands in the answer.",
            todo="For example response.results, in JMESPath.",
        )
    return JsonApiOptions(
        method=method,
        hits=compile_expression("hits", texts["hits"]),
        id=_expression("id", texts),
        document=_expression("document", texts),
        total=_expression("total", texts),
        score=_expression("score", texts),
        rows_parameter=_parameter("rows_parameter", texts),
        start_parameter=_parameter("start_parameter", texts),
        template=_template(texts["template"], method),
        test_query=texts["test_query"] or "test",
        lookup=_lookup(texts["lookup"]),
    )


def example_template(options: Mapping[str, Any]) -> str:
    """The template offered for an endpoint: its own, else one that many APIs understand."""
    own = str(options.get("template") or "").strip()
    return own or EXAMPLES.get(str(options.get("method") or "GET").upper(), EXAMPLES["GET"])


def _text(options: Mapping[str, Any], name: str) -> str:
    value = options.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise OptionError(name, f"it must be a text, not {value!r}.")
    return value.strip()


def _expression(name: str, texts: Mapping[str, str]) -> Expression | None:
    return compile_expression(name, texts[name]) if texts[name] else None


def _parameter(name: str, texts: Mapping[str, str]) -> str:
    text = texts[name]
    if text and (not _PARAMETER.fullmatch(text) or "" in text.split(".")):
        raise OptionError(
            name, f"“{text}” is not the name of a parameter.", todo="Write a name such as size, or page.size."
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
            todo="Choose POST, or write a query string such as q=#$query##.",
        )
    return template


def _lookup(text: str) -> str:
    if text and (not _LOOKUP.fullmatch(text) or text.count("{id}") != 1 or ".." in text):
        raise OptionError(
            "lookup",
            f"“{text}” is no path for a document.",
            todo="Begin with / or ?, and write {id} once, such as /products/{id}.",
        )
    return text
