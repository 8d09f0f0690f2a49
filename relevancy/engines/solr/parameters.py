"""Solr parameters: which ones of a template are sent, and which names are probably misspelled."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher, get_close_matches
from functools import lru_cache
from typing import Any

from relevancy.engines.errors import BadQuery
from relevancy.engines.fields.specs import FieldSpec
from relevancy.engines.templates.template import Template
from relevancy.engines.types import Request, TemplateWarning

from .references import is_refused, refused_parameter

Parameters = list[tuple[str, str]]

# An editor completes these names in a template.
_COMPLETED_NAMES = """
q defType qf pf pf2 pf3 mm tie bq bf boost fq sort start rows fl df q.op q.alt uf ps ps2 ps3 qs lowercaseOperators sow
mm.autoRelax stopwords rq rqq debug facet facet.field facet.query facet.limit facet.mincount hl hl.fl hl.method group
group.field group.limit collapse expand spellcheck spellcheck.q synonyms timeAllowed cache cost json.facet
"""
VOCABULARY = tuple(_COMPLETED_NAMES.split())
_FURTHER_NAMES = """
wt qt indent omitHeader echoParams debugQuery explainOther cursorMark json json.query json.filter json.limit
json.offset json.sort json.fields synonyms.enabled spellcheck.count spellcheck.collate hl.snippets hl.fragsize hl.q
hl.encoder hl.requireFieldMatch facet.sort facet.prefix facet.range facet.pivot facet.method group.sort group.query
group.func group.format group.main group.ngroups stats stats.field mlt mlt.fl mlt.qf expand.rows expand.sort expand.q
expand.fq segmentTerminateEarly multiThreaded preferLocalShards minExactCount logParamsList logParams
"""
_OTHER_KNOWN_NAMES = frozenset(_FURTHER_NAMES.split())
_SIMILARITY_CUTOFF = 0.8  # of difflib: one wrong, missing or added letter in a name of three
# The adapter sets these itself, so a template's own values are ignored.
_SET_BY_ADAPTER = frozenset(
    {"fl", "rows", "start", "indent", "omitHeader", "echoParams", "debug", "debugQuery", "debug.explain.structured"}
    | {"explainOther", "json.limit", "json.offset", "json.fields"}
)
_SET_BY_ADAPTER_IN_JSON = ("limit", "offset", "fields")


def allowed_parameters(parameters: Iterable[tuple[str, str]]) -> Parameters:
    """Returns the parameters to send, in order. Raises `BadQuery` naming one that is refused."""
    allowed: Parameters = []
    for name, value in parameters:
        if is_refused(name):
            raise refused_parameter(name)
        if name not in _SET_BY_ADAPTER:
            allowed.append((name, _allowed_json(value) if name == "json" else value))
    return allowed


def _allowed_json(text: str) -> str:
    """Returns a JSON request without the keys that the adapter sets.

    The text must be strict JSON: a refused parameter could hide in the lenient JSON that Solr accepts.
    """
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadQuery(
            f"The parameter “json” is not valid JSON: {error}.", hint="Quote every name and string."
        ) from error
    if not isinstance(body, dict):
        raise BadQuery("The parameter “json” is not a JSON object.", hint='Write {"query": …}.')
    return json.dumps(allowed_body(body), ensure_ascii=False)


def allowed_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a JSON request without the keys that the adapter sets. Raises `BadQuery` naming a refused parameter."""
    params: Any = body.get("params", {})
    if not isinstance(params, dict):
        raise BadQuery("“params” of the JSON request is not a JSON object.", hint='Write {"params": {…}}.')
    for name in params:
        # A JSON request inside the JSON request could contain what is refused here.
        if name == "json" or is_refused(name):
            raise refused_parameter(name)
    allowed = {name: value for name, value in body.items() if name not in (*_SET_BY_ADAPTER_IN_JSON, "params")}
    allowed_params = {name: value for name, value in params.items() if name not in _SET_BY_ADAPTER}
    return {**allowed, "params": allowed_params} if allowed_params else allowed


def misspelled_parameters(template: Template) -> list[TemplateWarning]:
    """Returns a warning for each parameter name that resembles a well-known one.

    Names that the template refers to (`v=$name`) are the user's own, and so are those that end in a digit.
    """
    known_names = sorted({*VOCABULARY, *_OTHER_KNOWN_NAMES})
    by_lower_case = {name.lower(): name for name in known_names}
    warnings = []
    for parameter in template.parameters:
        name = parameter.name
        if not isinstance(name, str) or name in known_names or name[-1:].isdigit() or name.startswith("f."):
            continue
        if re.search(rf"\$\{{?{re.escape(name)}\b", template.text):
            continue
        candidates = get_close_matches(name, known_names, n=5, cutoff=_SIMILARITY_CUTOFF)
        # Of equally similar ones, the beginning of the name.
        ranks = {known: (SequenceMatcher(None, known, name).ratio(), name.startswith(known)) for known in candidates}
        similar = by_lower_case.get(name.lower()) or max(ranks, key=ranks.__getitem__, default=None)
        if similar:
            message = f"“{name}” is not a well-known Solr parameter; did you mean “{similar}”?"
            warnings.append(TemplateWarning(message, parameter.line, parameter.column))
    return warnings


@lru_cache(maxsize=256)
def field_list(spec: FieldSpec) -> str:
    """Returns Solr's `fl`: the displayed fields, functions as `alias:function`, and the score."""
    names = ("*",) if spec.names is None else spec.names
    functions = [f"{alias}:{function}" for alias, function in spec.functions.items()]
    return ",".join(dict.fromkeys([*names, *functions, spec.id, "score"]))


def searched_fields(request: Request) -> list[str]:
    """Returns the names of the displayed fields and of those in the template's `qf`, without boosts and knobs."""
    lists = re.findall(r"(?:^|[&\s\"])qf[\"]?\s*[=:]\s*\"?([^&\n\",]*)", request.template.text)
    names = [name.partition("^")[0] for text in lists for name in text.split()]
    displayed = request.fields.names or ()
    return [name for name in dict.fromkeys([*displayed, *names]) if re.fullmatch(r"[A-Za-z_][\w.\-]*", name)]
