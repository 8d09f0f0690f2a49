"""Elasticsearch and OpenSearch: an attempt as a stored search template, in Mustache.

Mustache escapes what it fills in for JSON, so no text of a query can leave its string.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from relevancy import engines
from relevancy.engines.templates.slots import as_text

from .parts import Deployment, InputText, Part, as_json, curl, describe_keyword, describe_query, merge_names
from .symbols import MARK, MARKS, MISSING, Input, SymbolicRequest, fill_marks, has_marks

RESERVED = ("from", "size")
_SIZE = f"{MARK}999999{MARK}"
_TEXT, _NUMBER, _JSON = "text", "number", "json"


def build(
    symbolic: SymbolicRequest, name: str, example: tuple[str, Mapping[str, Any]], engine: engines.Engine
) -> Deployment:
    """Returns the stored search template; for an attempt that calls a search template itself, that one with its call."""
    body = dict(symbolic.rendered["body"])
    if "id" in body or "source" in body:
        return _call(symbolic, name, body)
    notes = []
    parts = []
    pipeline = body.get("search_pipeline")
    if isinstance(pipeline, dict) and not has_marks(pipeline):
        body["search_pipeline"] = name
        parts.append(
            Part(
                "pipeline",
                "Store the search pipeline",
                curl(f"$SERVER/_search/pipeline/{name}", as_json(pipeline), method="PUT"),
                "It holds the weights of hybrid queries.",
            )
        )
    elif isinstance(pipeline, str) and not has_marks(pipeline):
        notes.append(
            f"The search pipeline “{pipeline}” is used as it is in the engine: the attempt does not know its weights. "
            "It has to be the same in production."
        )
    if "track_total_hits" not in symbolic.keys:
        body.pop("track_total_hits", None)  # for the number of results, which Relevancy shows
    rows, body["size"] = body["size"], _SIZE
    names = _names(symbolic.inputs)
    kinds = [_kind(item) for item in symbolic.inputs]
    source = _source(body, symbolic.inputs, names, kinds, rows)
    file = as_json({"script": {"lang": "mustache", "source": source}})
    inputs = [_describe(symbolic, *row) for row in zip(symbolic.inputs, names, kinds, strict=True)]
    inputs += [
        InputText("size", "how many results", str(rows)),
        InputText("from", "how many results are skipped, for further pages", "0"),
    ]
    store = Part(
        "template",
        "Store the search template",
        "SERVER=http://localhost:9200\n" + curl(f"$SERVER/_scripts/{name}", file, method="PUT"),
        "Set SERVER to the address of the cluster first.",
    )

    def search(text: str, options: Mapping[str, Any]) -> str:
        values = symbolic.values(text, options)
        rows = zip(symbolic.inputs, names, kinds, strict=True)
        params = {key: _sent(kind, item.value(values)) for item, key, kind in rows}
        return curl("$SERVER/$INDEX/_search/template", as_json({"id": name, "params": params}))

    example_search = Part("search", "Search with it", f"INDEX=products\n{search(*example)}")
    text = source
    if parts:
        text += f"\n\n// search pipeline {name}\n{as_json(pipeline)}"
    readable = Part("source", "The template", source, "What is stored, to read.")
    return Deployment(
        name, text, file, f"{name}.json", [store, *parts, example_search, readable], inputs, notes, search=search
    )


def _call(symbolic: SymbolicRequest, name: str, body: Mapping[str, Any]) -> Deployment:
    """Returns the search template that the attempt itself contains or names, with the request that calls it."""
    notes, parts = [], []
    call = {key: value for key, value in body.items() if key != "source"}
    file = ""
    if "source" in body and not has_marks(body["source"]):
        call = {"id": name, **call}
        file = as_json({"script": {"lang": "mustache", "source": body["source"]}})
        parts.append(
            Part(
                "template",
                "Store the search template",
                "SERVER=http://localhost:9200\n" + curl(f"$SERVER/_scripts/{name}", file, method="PUT"),
                "Set SERVER to the address of the cluster first.",
            )
        )
    elif "source" in body:
        call["source"] = body["source"]
        notes.append(
            "Placeholders stand in the source of the search template, so it cannot be stored: the application fills them in, and sends "
            "the whole request to _search/template."
        )
    else:
        notes.append(
            f"The search template “{body['id']}” is stored in the engine already. It has to be the same in production."
        )
    request = as_json(fill_marks(call, lambda number: symbolic.inputs[number].slot.text))
    parts.append(
        Part("request", "The request that calls it", request, "Placeholders are for the application to fill in.")
    )
    inputs = [_describe(symbolic, item, item.slot.text, _kind(item)) for item in symbolic.inputs]
    text = f"{as_json(body['source'])}\n\n{request}" if file else request
    return Deployment(name, text, file or request, f"{name}.json", parts, inputs, notes, is_stored=bool(file))


def _names(inputs: list[Input]) -> list[str]:
    wanted = []
    for item in inputs:
        path = "_".join(item.slot.path)
        match item.slot.root:
            case "query":
                wanted.append("query_string")
            case "keyword":
                wanted.append(f"keyword{int(path) + 1}" if path.isdecimal() else "keywords")
            case _:
                wanted.append(path or "options")
    return merge_names(wanted, RESERVED)


def _kind(item: Input) -> str:
    """Returns how a value that stands alone in the JSON is written: by the default, or else by the first value of a query."""
    slot = item.slot
    if slot.root == "keyword" and not slot.path:
        return _JSON
    value = item.example if item.default in (MISSING, "") else item.default
    if isinstance(value, bool) or not isinstance(value, int | float | list | dict):
        return _NUMBER if isinstance(value, bool) else _TEXT
    return _NUMBER if isinstance(value, int | float) else _JSON


def _source(body: Any, inputs: list[Input], names: list[str], kinds: list[str], rows: int) -> str:
    """Returns the body as Mustache."""
    text = as_json(body)
    # As escapes, braces of a text cannot be taken for a tag. Those of the JSON itself stand apart.
    text = re.sub(rf"(?<=\{{)\{{|\{{(?={MARK})", r"\\u007b", text)
    text = re.sub(rf"(?<={MARK})\}}", r"\\u007d", text)
    text = text.replace(f'"{_SIZE}"', f"{{{{size}}}}{{{{^size}}}}{rows}{{{{/size}}}}")

    def alone(match: re.Match[str]) -> str:
        number = int(match[1])
        return _tag(inputs[number], names[number], kinds[number])

    def within(match: re.Match[str]) -> str:
        number = int(match[1])
        return _tag(inputs[number], names[number], _TEXT)[1:-1]

    text = MARKS.sub(within, re.sub(f'"{MARKS.pattern}"', alone, text))
    return text.replace("{", '{\n  {{#from}}"from": {{from}},{{/from}}', 1)


def _tag(item: Input, name: str, kind: str) -> str:
    default = "" if item.default in (MISSING, "") else _default(item.default, kind)
    otherwise = f"{{{{^{name}}}}}{default}{{{{/{name}}}}}" if default else ""
    match kind:
        case "json":
            return f"{{{{#toJson}}}}{name}{{{{/toJson}}}}{otherwise}"
        case "number":
            return f"{{{{{name}}}}}{otherwise}"
        case _:
            return f'"{{{{{name}}}}}{otherwise}"'


def _default(value: Any, kind: str) -> str:
    text = json.dumps(as_text(value) if kind == _TEXT else value, ensure_ascii=False).replace("{{", "{\\u007b")
    return text[1:-1] if kind == _TEXT else text


def _sent(kind: str, value: Any) -> Any:
    """Returns what the application sends: an empty or false value would count as none."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if kind in (_JSON, _NUMBER) else as_text(value)


def _describe(symbolic: SymbolicRequest, item: Input, name: str, kind: str) -> InputText:
    is_escaped = bool(symbolic.config["escape"])
    slot = item.slot
    if slot.root == "query":
        return InputText(name, describe_query(is_escaped=is_escaped))
    if slot.root == "keyword":
        form = "" if slot.path else ", as a list"
        return InputText(name, describe_keyword(slot.path, is_escaped=is_escaped) + form, "" if slot.path else None)
    forms = {
        _TEXT: "as text",
        _NUMBER: "as a number, or “true” or “false” as text",
        _JSON: "as a list or object, not empty",
    }
    default = None if item.default is MISSING else as_text(item.default)
    return InputText(name, f"the option “{'.'.join(slot.path)}” of the query, {forms[kind]}", default)
