"""Solr: the parameters of an attempt as a set of the Config API and as the defaults of a request handler.

What the application sends replaces a default of the same name. A placeholder that is a whole parameter becomes a parameter that the
application sends; one that is the query of local parameters, `{!edismax qf=title}#$query##`, becomes `v=$user_query`; any other
becomes a macro, `${user_query}`, which Solr fills in.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from relevancy import engines
from relevancy.engines.templates.slots import as_text

from .parts import Deployment, InputText, Part, as_json, curl, describe_keyword, describe_query, merge_names
from .symbols import MARKS, MISSING, Input, SymbolicRequest

_OF_ADAPTER = {"start", "wt", "echoParams", "indent"}  # of the response, not of the search
_LOCAL_QUERY = re.compile(rf"(\{{![^{{}}'\"$]*)\}}({MARKS.pattern})")
_OWN_VALUE = re.compile(r"\bv\s*=")
_MACRO = "${"
_JSON_NAMES = {"query": "q", "filter": "fq", "sort": "sort"}
Pairs = list[tuple[str, str]]


def build(
    symbolic: SymbolicRequest, name: str, example: tuple[str, Mapping[str, Any]], engine: engines.Engine
) -> Deployment | None:
    """Returns the parameters; None if they cannot be those of a handler, as a JSON request with a query of its own structure."""
    pairs = _pairs(symbolic)
    if pairs is None:
        return None
    names = _names(symbolic.inputs, pairs)
    own_macros = any(_MACRO in value for _, value in pairs)
    counts = Counter(key for key, _ in pairs)
    values: dict[str, list[str]] = {}
    direct: list[tuple[str, int]] = []  # parameters that the application sends, and the numbers of their inputs
    referred: list[int] = []
    for key, value in pairs:
        whole = MARKS.fullmatch(value)
        if whole and counts[key] == 1:
            direct.append((key, int(whole[1])))
            continue
        values.setdefault(key, []).append(_with_references(value, names, referred))
    kept: dict[str, Any] = {key: texts[0] if len(texts) == 1 else texts for key, texts in values.items()}
    inputs = []
    for key, number in [*direct, *((names[number], number) for number in dict.fromkeys(referred))]:
        described = _describe(symbolic, symbolic.inputs[number], key)
        inputs.append(described)
        if described.default:
            kept[key] = described.default
    has_macros = own_macros or any(_MACRO in text for text in _texts(kept))
    if not has_macros:
        kept.setdefault("expandMacros", "false")
    return _deployment(
        symbolic, name, example, kept, inputs, [*direct, *((names[n], n) for n in dict.fromkeys(referred))]
    )


def _pairs(symbolic: SymbolicRequest) -> Pairs | None:
    """Returns the parameters with marks; None if the request cannot be written as parameters."""
    rendered = symbolic.rendered
    if "params" in rendered:
        pairs = [(name, value) for name, value in rendered["params"] if name not in _OF_ADAPTER]
        is_json = any(name == "json" or name.startswith("json.") for name, value in pairs if MARKS.search(value))
        return None if is_json or any(MARKS.search(name) for name, _ in pairs) else pairs
    body = dict(rendered["body"])
    params = {name: value for name, value in body.pop("params", {}).items() if name not in _OF_ADAPTER}
    pairs = []
    for name, value in [*body.items(), *params.items()]:
        texts = value if isinstance(value, list) and name in ("filter", *params) else [value]
        is_known = name in params or name in _JSON_NAMES
        if not is_known or not all(isinstance(text, str | int | float) for text in texts) or MARKS.search(name):
            return None
        pairs += [(_JSON_NAMES[name] if name in body else name, as_json_text(text)) for text in texts]
    return pairs


def as_json_text(value: Any) -> str:
    """Returns a value of a JSON request as the value of a parameter."""
    return str(value).lower() if isinstance(value, bool) else as_text(value)


def _names(inputs: list[Input], pairs: Pairs) -> list[str]:
    """Returns the name of each input as a parameter of its own, which the template does not have."""
    wanted = []
    for item in inputs:
        path = "_".join(item.slot.path)
        match item.slot.root:
            case "query":
                wanted.append("user_query")  # “query” switches a component of Solr
            case "keyword":
                wanted.append(f"keyword{int(path) + 1}" if path.isdecimal() else "keywords")
            case _:
                wanted.append(f"option_{path}")
    return merge_names(wanted, [name for name, _ in pairs])


def _with_references(value: str, names: list[str], referred: list[int]) -> str:
    """Returns the value of a parameter with references instead of marks, whose numbers are added to `referred`."""
    referred += [int(number) for number in MARKS.findall(value)]
    local = _LOCAL_QUERY.fullmatch(value)
    if local and not _OWN_VALUE.search(local[1]):
        return f"{local[1]} v=${names[int(local[3])]}}}"
    return MARKS.sub(lambda match: f"{_MACRO}{names[int(match[1])]}}}", value)


def _describe(symbolic: SymbolicRequest, item: Input, name: str) -> InputText:
    is_escaped = bool(symbolic.config["escape"])
    match item.slot.root:
        case "query":
            return InputText(name, describe_query(is_escaped=is_escaped))
        case "keyword":
            joined = "" if item.slot.path else ", joined by commas"
            return InputText(name, describe_keyword(item.slot.path, is_escaped=is_escaped) + joined, "")
        case _:
            default = None if item.default is MISSING else as_text(item.default)
            return InputText(name, f"the option “{'.'.join(item.slot.path)}” of the query", default)


def _deployment(
    symbolic: SymbolicRequest,
    name: str,
    example: tuple[str, Mapping[str, Any]],
    kept: dict[str, Any],
    inputs: list[InputText],
    sent: list[tuple[str, int]],
) -> Deployment:
    file = as_json({"set": {name: kept}})
    has_macros = any(_MACRO in text for text in _texts(kept))
    notes = []
    if has_macros:
        notes.append(
            "Solr fills in macros (${…}) in every parameter, also in what users type: a text with ${ must not be sent. A file "
            "solrconfig.xml cannot hold macros, because Solr takes them for its own properties; use the set of parameters."
        )
    notes.append(
        "The defaults of the request handler still apply to what the set leaves open. A new handler has none of them, such as df."
    )
    parts = [
        Part(
            "params",
            "Store the set of parameters",
            "SOLR=http://localhost:8983/solr/products\n" + curl("$SOLR/config/params", file),
            "Set SOLR to the address of the core or collection first. Solr keeps the set in params.json.",
        )
    ]

    def search(text: str, options: Mapping[str, Any]) -> str:
        values = symbolic.values(text, options)
        pairs = [(key, as_text(symbolic.inputs[number].value(values))) for key, number in sent]
        arguments = "".join(f" \\\n  --data-urlencode {shlex.quote(f'{key}={value}')}" for key, value in pairs)
        return f'curl "$SOLR/select" -d useParams={name}{arguments}'

    parts.append(Part("search", "Search with it", search(*example)))
    if not has_macros:
        parts.append(
            Part(
                "solrconfig",
                "The same as defaults of a handler, for solrconfig.xml",
                _handler(name, kept),
                "Instead of the set of parameters.",
            )
        )
    return Deployment(name, as_json(kept), file, f"{name}.json", parts, inputs, notes, search=search)


def _handler(name: str, kept: Mapping[str, Any]) -> str:
    lines = [f'<requestHandler name="/{name}" class="solr.SearchHandler">', '  <lst name="defaults">']
    for key, value in kept.items():
        for text in value if isinstance(value, list) else [value]:
            lines.append(f"    <str name={quoteattr(key)}>{escape(text)}</str>")
    return "\n".join([*lines, "  </lst>", "</requestHandler>"])


def _texts(kept: Mapping[str, Any]) -> list[str]:
    return [text for value in kept.values() for text in (value if isinstance(value, list) else [value])]
