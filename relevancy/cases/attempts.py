"""Attempts: the numbered versions of how a case asks its engine."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Max

from relevancy import engines, evaluation
from relevancy.models import Attempt, Case, Endpoint

from .errors import Refused

MAX_TEMPLATE = 20_000
MAX_FIELDS = 2000


def save(
    *,
    case: Case,
    endpoint: Endpoint,
    template: str,
    by: Any,
    fields: str = "",
    knobs: Mapping[str, Any] | None = None,
    depth: int = 10,
    escape: bool | None = None,
    parent: Attempt | None = None,
    name: str = "",
) -> Attempt:
    """The next attempt of the case; one that was never run is changed in place. What equals `parent` stays `parent`.

    `escape` left out: as the engine needs it, which is on for Solr's parameters and off for JSON, where text is quoted anyway.
    Raises `Refused` naming the field: template (with line and column), fields, knobs, depth.
    """
    content = {
        "endpoint": endpoint,
        "template": template.replace("\r\n", "\n"),
        "fields": " ".join(fields.split()),
        "knobs": check(endpoint=endpoint, template=template, fields=fields, knobs=knobs or {}, depth=depth),
        "depth": depth,
        "escape": engines.get(endpoint.engine).syntax == "params" if escape is None else escape,
    }
    with transaction.atomic():
        Case.objects.select_for_update().get(pk=case.pk)
        if parent is not None and all(getattr(parent, key) == value for key, value in content.items()):
            return parent
        if parent is not None and not parent.runs.exists():
            for key, value in {**content, "name": name or parent.name}.items():
                setattr(parent, key, value)
            parent.save()
            return parent
        number = (case.attempts.aggregate(last=Max("number"))["last"] or 0) + 1
        return Attempt.objects.create(case=case, number=number, parent=parent, name=name, created_by=by, **content)


def check(*, endpoint: Endpoint, template: str, fields: str, knobs: Mapping[str, Any], depth: int) -> dict[str, float]:
    """What is wrong with an attempt, before it is stored; returns the knobs its template uses, as numbers."""
    if endpoint.archived_at:
        raise Refused(f"Endpoint {endpoint.name} is archived.", field="endpoint")
    if not 1 <= depth <= 1000:
        raise Refused(f"{depth} results cannot be shown: choose 1 to 1,000.", field="depth")
    if len(template) > MAX_TEMPLATE:
        raise Refused(
            f"The template has {len(template):,} characters; {MAX_TEMPLATE:,} are possible.", field="template"
        )
    if len(fields) > MAX_FIELDS:
        raise Refused(f"The fields have {len(fields):,} characters; {MAX_FIELDS:,} are possible.", field="fields")
    adapter = engines.get(endpoint.engine)
    try:
        parsed = engines.parse_template(template, adapter.syntax)
    except engines.TemplateError as error:
        raise Refused(str(error), field="template", line=error.line, column=error.column) from None
    try:
        engines.parse_fields(fields, adapter.default_id_field)
    except engines.TemplateError as error:
        raise Refused(str(error), field="fields") from None
    return {name: _knob(name, knobs.get(name, 10)) for name in parsed.knobs}


def _knob(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise Refused(f"Knob {name} is {value!r}; write a number.", field="knobs") from None
    if not abs(number) < 1e12:
        raise Refused(f"Knob {name} is {value}; write a number a query can use.", field="knobs")
    return int(number) if number.is_integer() else number


def syntax(endpoint: Endpoint, template: str = "") -> str:
    """How a template is written: "params" or "json". Where both are possible and there is none yet, as what the endpoint offers."""
    found = engines.get(endpoint.engine).syntax
    if template.strip() and found != "json":
        return engines.syntax_of(template)
    return engines.syntax_of(engines.json_api_template(endpoint.options)) if found == "either" else found


def preview(*, attempt: Attempt, text: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """What would be sent for a query. Raises `EngineError`."""
    asker = evaluation.Asker(evaluation.asked(attempt), attempt.depth)
    with evaluation.connect(attempt.endpoint) as engine:
        return engine.render(asker.request(text, options))


def changes(attempt: Attempt) -> str:
    """What an attempt changed against its parent, in a few words: `tie 0.3 → 0.15 · + pf=title^18`."""
    parent = attempt.parent
    if parent is None:
        return ""
    words = [
        f"{name} {_said(parent.knobs[name])} → {_said(value)}" if name in parent.knobs else f"{name} {_said(value)}"
        for name, value in attempt.knobs.items()
        if parent.knobs.get(name) != value
    ]
    before, after = parent.template.splitlines(), attempt.template.splitlines()
    words += [f"+ {line.strip()}" for line in after if line.strip() and line not in before][:2]
    if not words:
        words += [f"− {line.strip()}" for line in before if line.strip() and line not in after][:2]
    if parent.endpoint_id != attempt.endpoint_id:
        words.append(f"on {attempt.endpoint}")
    if parent.depth != attempt.depth:
        words.append(f"{parent.depth} → {attempt.depth} shown")
    if parent.fields != attempt.fields:
        words.append("other fields")
    if parent.escape != attempt.escape:
        words.append("escaped" if attempt.escape else "not escaped")
    return " · ".join(words)


def _said(value: Any) -> str:
    return "–" if value is None else f"{value:g}"
