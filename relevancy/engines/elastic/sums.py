"""Query templates that rank the first results again by a weighted sum of clauses."""

from __future__ import annotations

import json
from collections.abc import Sequence

from relevancy.engines.errors import UnsupportedByEngine
from relevancy.engines.templates.template import Template
from relevancy.engines.types import WeightedClause

# They decide the order without a score, or are not combined with a rescore.
_IN_THE_WAY = ("rescore", "sort", "knn", "rank", "retriever", "collapse", "id", "source")


def rescored_template(template: Template, clauses: Sequence[WeightedClause], *, window: int) -> str:
    """Returns the template with a rescore. Raises `UnsupportedByEngine`."""
    body = template.body
    names = [name for name in _IN_THE_WAY if not isinstance(body, dict) or name in body]
    if names:
        raise UnsupportedByEngine(f"The template has “{names[0]}”, which is not combined with a rescore.")
    beginning, brace, _ = template.text.rstrip().rpartition("}")
    beginning = beginning.rstrip()
    parts = ",\n          ".join(_part(clause) for clause in clauses)
    comma = "," if body else ""
    return (
        f'{beginning}{comma}\n  "rescore": {{\n    "window_size": {window},\n    "query": {{\n'
        '      "query_weight": 0,\n      "rescore_query_weight": 1,\n      "rescore_query": {\n        "bool": {"should": [\n'
        f"          {parts}\n        ]}}\n      }}\n    }}\n  }}\n{brace}"
    )


def _part(clause: WeightedClause) -> str:
    if not clause.is_number:
        return f'{{"bool": {{"must": [{clause.text}], "boost": ##{clause.knob}##}}}}'
    field = json.dumps(clause.text, ensure_ascii=False)
    value = f'"field_value_factor": {{"field": {field}, "missing": 0}}, "boost_mode": "replace"'
    return f'{{"function_score": {{"query": {{"match_all": {{}}}}, {value}, "boost": ##{clause.knob}##}}}}'
