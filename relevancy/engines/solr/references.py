"""What a request to Solr refers to besides its own core. Checked when all placeholders are filled in.

Solr reads names of other cores, servers and handlers in parameters, in local parameters (`{!join fromIndex=other}`), in document
transformers (`[subquery fromIndex=other]`) and in the keys of a JSON request. It unescapes text before it parses nested
queries (`_query_:"…"`, `v='…'`), and replaces macros (`${name}`) before it parses anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from relevancy.engines.errors import BadQuery
from relevancy.engines.names import check_reference

# They name other servers, collections, files or handlers, change the format of the response, or write.
_REFUSED = re.compile(
    r"shards?(\..*)?|stream\..*|qt|wt|tr|json\.wrf|json\.params.*|v\.(template|layout|json|contentType).*|"
    r"defaultHandler|_forwardedCount|isShard|debug\.file|solrUrl|zkHost|"
    r"(spellcheck|suggest)\.(build|reload|buildAll|reloadAll)",
)
# The same after a prefix: `x.shards` belongs to the transformer `x:[subquery]`.
_REFUSED_SUFFIX = re.compile(
    r"shards(\.(filter|info|preference|purpose|qt|rows|start|tolerant))?|shard\.url|stream\.(body|contentType|file|url)|"
    r"qt|wt|tr|json\.wrf|json\.params.*|isShard|solrUrl|zkHost"
)
_OF_COLLECTIONS = re.compile(r"(.*\.)?collection")
_MACRO = "${"
_MACRO_CONTENT = re.compile(r"\s*([^\W\d][\w.$-]*)\s*(?::(.*))?", re.DOTALL)
_MAX_MACRO_LEVELS = 25
_MAX_MACROS = 500
_MAX_EXPANDED_LENGTH = 10_000  # a longer value counts as several macros
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_MAX_UNESCAPINGS = 20
_ESCAPED_OTHER = re.compile(r"\W")  # no part of a name
_NESTED_QUERY = re.compile(r"_(?:query|val)_\s*:")
# Escaped white space may stand between a name and “=”.
_FROM_INDEX = re.compile(r"""fromIndex[\sntrbf]*=\s*(\\*"[^"]*"|\\*'[^']*'|[^\s}\]]*)""")
_OTHER_SERVER = re.compile(r"(solrUrl|zkHost)[\sntrbf]*=")
# `xcjf` joins with other servers; `xmlparser` reads external entities in some versions.
_REFUSED_PARSERS = ("xcjf", "xmlparser")
_PARSER_WORD = re.compile(rf"\b({'|'.join(_REFUSED_PARSERS)})\b")
_PARSER_BY_REFERENCE = re.compile(r"""type\s*=\s*["']?\$""")
_LENIENT_NAMES = re.compile(r"fromIndex|solrUrl|zkHost|xcjf|xmlparser")

Pairs = Sequence[tuple[str, str]]


@lru_cache(maxsize=1024)
def is_refused(name: str) -> bool:
    """Whether a parameter is never sent."""
    if _REFUSED.fullmatch(name) or _MACRO in name:
        return True
    return any(_REFUSED_SUFFIX.fullmatch(name, match.end()) for match in re.finditer(r"\.", name))


def check_parameters(parameters: Pairs, allowed: Collection[str], *, expands_macros: bool) -> None:
    """Checks the names and values of form parameters. Raises `BadQuery` naming what refers to something else.

    allowed: names of indexes that may be read. expands_macros: Solr replaces `${name}` in the values.
    """
    expand = _MacroExpander(parameters).expand if expands_macros else str
    expanded = [(name, expand(value)) for name, value in parameters]
    for name, value in expanded:
        _check_parameter(name, value, allowed)
    values = [value.strip() for _, value in expanded]
    if any(parser in values for parser in _REFUSED_PARSERS) and any(map(_PARSER_BY_REFERENCE.search, values)):
        raise _refused_parser("a parameter that “type” refers to")


def check_body(body: Mapping[str, Any], allowed: Collection[str]) -> None:
    """Checks a JSON request, or any part of one. Raises `BadQuery` naming what refers to something else."""
    params = body.get("params")
    if isinstance(params, Mapping):
        pairs = [(name, value) for name, values in params.items() for value in _texts(values)]
        check_parameters(pairs, allowed, expands_macros=False)
    _check_json({name: value for name, value in body.items() if name != "params"}, allowed)


def check_field_list(text: str, allowed: Collection[str]) -> None:
    """Checks Solr's `fl`: functions, and transformers such as `[subquery fromIndex=other]`."""
    for view in _views(text, is_query=True):
        _check_view(view, allowed)


def has_macro(texts: Iterator[str]) -> bool:
    """Whether one of the texts contains the beginning of a macro."""
    return any(_MACRO in text for text in texts)


def _check_parameter(name: str, value: str, allowed: Collection[str]) -> None:
    if is_refused(name):
        raise refused_parameter(name)
    if _OF_COLLECTIONS.fullmatch(name):
        for collection in value.split(","):
            check_reference(collection.strip(), allowed, what=f"the parameter “{name}”")
    if name == "defType" and value.strip() in _REFUSED_PARSERS:
        raise _refused_parser("defType")
    if name == "json" or name.startswith("json."):
        _check_json_text(value, allowed)
    elif name == "fl" or name.endswith(".fl"):
        check_field_list(value, allowed)
    else:
        _check_text(value, allowed)


def _check_text(text: str, allowed: Collection[str]) -> None:
    # Lucene's parser finds the field `_query_` or `_val_`, whose name may be escaped but whose colon may not.
    may_be_nested = "_" in text or "\\" in text
    names = (
        _ESCAPE.sub(lambda match: _ESCAPED_OTHER.sub("\0", _escaped_character(match)), text) if may_be_nested else ""
    )
    for view in _views(text, is_query="{!" in text or _NESTED_QUERY.search(names) is not None):
        _check_view(view, allowed)


def _check_view(view: str, allowed: Collection[str]) -> None:
    for match in _FROM_INDEX.finditer(view):
        check_reference(match[1].strip("\\\"'"), allowed, what="fromIndex")
    if other_server := _OTHER_SERVER.search(view):
        check_reference(other_server[1], (), what="a local parameter")
    if parser := _PARSER_WORD.search(view):
        raise _refused_parser(parser[1])


def _views(text: str, *, is_query: bool) -> Iterator[str]:
    """Yields a text that Solr may parse as a query, unescaped once, twice … Nothing for text that is only searched for."""
    if not is_query:
        return
    for _ in range(_MAX_UNESCAPINGS):
        yield text
        unescaped = _ESCAPE.sub(_escaped_character, text)
        if unescaped == text:
            return
        text = unescaped
    raise BadQuery("The query is escaped too many times.", hint="Remove backslashes.")


def _escaped_character(match: re.Match[str]) -> str:
    return chr(int(match[1][1:], 16)) if len(match[1]) > 1 else match[1]


def _check_json_text(text: str, allowed: Collection[str]) -> None:
    """Checks a parameter that Solr parses as JSON, more leniently than the standard says."""
    try:
        _check_json(json.loads(text), allowed)
    except (ValueError, RecursionError):
        for view in _views(text, is_query=True):
            if match := _LENIENT_NAMES.search(view):
                raise BadQuery(
                    f"A JSON parameter contains “{match[0]}” and is not strict JSON, so it cannot be checked.",
                    hint="Quote every name and string.",
                ) from None


def _check_json(node: Any, allowed: Collection[str]) -> None:
    nodes = [node]
    while nodes:
        node = nodes.pop()
        if isinstance(node, str):
            _check_text(node, allowed)
        elif isinstance(node, Mapping):
            for name, value in node.items():
                if name == "fromIndex":
                    check_reference(value, allowed, what="fromIndex")
                if name in ("solrUrl", "zkHost"):
                    check_reference(value, (), what=name)
                if name in _REFUSED_PARSERS:
                    raise _refused_parser(name)
            nodes += node.values()
        elif isinstance(node, list | tuple):
            nodes += node


def _texts(value: Any) -> Iterator[str]:
    """Yields the texts of a parameter in a JSON request, which may be a list."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    else:
        yield value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class _MacroExpander:
    """Replaces `${name}` and `${name:default}` as Solr does: up to the first `}`, from the outside in.

    Raises `BadQuery` for macros that take too long: each one can contain two others, and so on.
    """

    def __init__(self, parameters: Pairs) -> None:
        self._left = _MAX_MACROS
        self._values: dict[str, str] = {}
        for name, value in parameters:
            self._values.setdefault(name, value)

    def expand(self, text: str, level: int = 0) -> str:
        parts: list[str] = []
        start = 0
        while (opening := text.find(_MACRO, start)) >= 0 and (closing := text.find("}", opening)) >= 0:
            if opening and text[opening - 1] == "\\":
                parts.append(text[start : opening + len(_MACRO)])
                start = opening + len(_MACRO)
                continue
            parts.append(text[start:opening])
            start = closing + 1
            parts.append(self._replacement(text[opening:start], level))
        return "".join([*parts, text[start:]])

    def _replacement(self, macro: str, level: int) -> str:
        content = _MACRO_CONTENT.match(macro[len(_MACRO) : -1])
        if content is None:
            return macro
        value = self._values.get(content[1], content[2] or "")
        self._left -= 1 + len(value) // _MAX_EXPANDED_LENGTH
        if level > _MAX_MACRO_LEVELS or self._left < 0:
            raise BadQuery("The template has too many macros ${…}, one in another.", hint="Simplify them.")
        return self.expand(value, level + 1)


def refused_parameter(name: str) -> BadQuery:
    """Returns the error for a parameter that is never sent."""
    return BadQuery(
        f"The parameter “{name}” is not allowed: it reaches other servers, files or handlers, changes the format of the "
        "response, or writes.",
        hint="Remove it from the query template; if it is needed, configure it in Solr's request handler.",
    )


def _refused_parser(name: str) -> BadQuery:
    return BadQuery(
        f"The query parser of {name} is not allowed: it reads external data.",
        hint="Use another query parser. If these words are the user's text, let the attempt escape Lucene's characters.",
    )
