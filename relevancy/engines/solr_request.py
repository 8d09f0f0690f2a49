"""What is sent to Solr for one request: parameters as a form, or a body of its JSON Request API with the same within."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .base import Request
from .errors import BadQuery
from .fields import FieldSpec
from .highlights import ASKED_CLOSE, ASKED_OPEN, LENGTH, wanted
from .solr_params import Pairs, checked, checked_body, field_list

ANSWER_FORM: Pairs = [("wt", "json"), ("echoParams", "none"), ("indent", "off")]
# What decides about marks is ours where we ask for them; how snippets are found and cut may be the template's.
_OUR_MARKS = re.compile(r"hl|(f\..+\.)?hl\.(fl|snippets|encoder|(simple|tag)\.(pre|post))")
_OUR_SNIPPETS: Pairs = [("hl.method", "unified"), ("hl.requireFieldMatch", "false"), ("hl.fragsize", str(LENGTH))]


@dataclass(frozen=True)
class Asked:
    """Exactly one is there: `pairs` (form parameters in order) or `body` (a JSON request)."""

    pairs: Pairs | None = None
    body: Mapping[str, Any] | None = None

    def plus(self, *pairs: tuple[str, str]) -> Asked:
        """The same with further parameters; those of one name come after each other, filters after the template's own."""
        if self.body is None:
            return Asked(pairs=[*(self.pairs or ()), *pairs])
        body = dict(self.body)
        params = dict(body.get("params", {}))
        for name, value in pairs:
            if name == "fq":
                own = body.get("filter", [])
                body["filter"] = [*(own if isinstance(own, list) else [own]), value]
            else:
                params[name] = value
        return Asked(body={**body, "params": params})

    @property
    def names(self) -> set[str]:
        """Names of the parameters there are."""
        if self.body is None:
            return {name for name, _ in self.pairs or ()}
        return set(self.body.get("params", {}))

    @property
    def sent(self) -> dict[str, Any]:
        """As plain JSON."""
        return {"params": [list(pair) for pair in self.pairs or ()]} if self.body is None else {"body": self.body}


def asked_of(request: Request) -> Asked:
    """The template's own part of a request. Raises `BadQuery` naming a parameter that is refused."""
    rendered = request.template.render(
        query=request.query, options=request.options, knobs=request.knobs, escape=request.escape
    )
    if request.template.syntax == "params":
        return Asked(pairs=checked(rendered))
    if not isinstance(rendered, dict):
        raise BadQuery("The query template does not become a JSON object.", todo='Write {"query": …}.')
    return Asked(body=checked_body(rendered))


def search_of(request: Request) -> Asked:
    """The whole search: the template's part, our depth and fields, and highlighting where it is wanted."""
    asked = asked_of(request)
    if request.highlight:
        asked = _without_marks(asked)
        own = asked.names
        asked = asked.plus(
            *[pair for pair in _OUR_SNIPPETS if pair[0] not in own],
            ("hl", "true"),
            ("hl.fl", _highlighted(request.fields)),
            ("hl.snippets", "1"),
            ("hl.encoder", ""),
            *[(f"hl.{kind}.{end}", mark) for kind in ("tag", "simple") for end, mark in _MARKS],
        )
    ours = ("fl", field_list(request.fields)), ("rows", str(request.rows)), ("start", str(request.start))
    return asked.plus(*ours, *ANSWER_FORM)


_MARKS = (("pre", ASKED_OPEN), ("post", ASKED_CLOSE))


def _without_marks(asked: Asked) -> Asked:
    if asked.body is None:
        return Asked(pairs=[pair for pair in asked.pairs or () if not _OUR_MARKS.fullmatch(pair[0])])
    params = {name: value for name, value in asked.body.get("params", {}).items() if not _OUR_MARKS.fullmatch(name)}
    return Asked(body={**asked.body, "params": params})


def _highlighted(spec: FieldSpec) -> str:
    """Solr refuses a search that highlights a field it does not have. A pattern that fits none is no error, so each name
    becomes a pattern: `t*itle`. Fields that fit by chance are not read."""
    names = wanted(spec)
    return "*" if names is None else " ".join(f"{name[0]}*{name[1:]}" for name in names)
