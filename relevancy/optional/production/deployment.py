"""The text of an attempt in the form in which its engine is configured, with the commands that store it and an example of a search."""

from __future__ import annotations

from difflib import unified_diff

from django.utils.text import slugify

from relevancy import engines, runs
from relevancy.endpoints import connect
from relevancy.engines.templates.slots import as_text
from relevancy.models import Attempt

from . import search_template, solr_params
from .parts import Deployment, InputText, Part, as_json, describe_keyword, describe_query
from .symbols import MISSING, Input, SymbolicRequest, build_symbolic, fill_marks

MAX_EXAMPLES = 200  # queries whose options are read
BUILDERS = {"solr": solr_params.build, "elasticsearch": search_template.build, "opensearch": search_template.build}


def build_deployment(attempt: Attempt) -> Deployment:
    """Returns the deployable text of an attempt, which has its case and endpoint. Contacts no engine.

    Raises `EngineError` if the attempt cannot be rendered: an invalid template, a knob without value, an engine that is not installed.
    """
    adapter = engines.get(attempt.endpoint.engine)
    if not adapter.uses_template:
        raise engines.UnsupportedByEngine(
            f"{adapter.label} returns the same results whatever the template is: there is nothing to deploy."
        )
    config = runs.snapshot_config(attempt)
    queries = list(attempt.case.case_queries.present().select_related("query")[:MAX_EXAMPLES])
    options = [runs.query_options(attempt.template, case_query) for case_query in queries]
    with connect(attempt.endpoint) as engine:
        symbolic = build_symbolic(engine, config, options)
    name = f"{slugify(attempt.case.name).replace('-', '_') or 'case'}_{attempt.number}"
    example = next(((case_query.query.text, own) for case_query, own in zip(queries, options, strict=True)), ("", {}))
    build = BUILDERS.get(engine.key)
    deployment = build(symbolic, name, example, engine) if build else None
    return deployment or _as_request(symbolic, name, engine.label)


def describe_difference(deployment: Deployment, other: Deployment, labels: tuple[str, str]) -> str:
    """Returns the unified diff from the text of another attempt; empty if both are the same. labels: of the other one first."""
    lines = unified_diff(other.text.splitlines(), deployment.text.splitlines(), *labels, lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _as_request(symbolic: SymbolicRequest, name: str, label: str) -> Deployment:
    """Returns the request itself: its knobs are filled in, its placeholders are left for the application."""
    rendered = {key: value for key, value in symbolic.rendered.items() if key not in ("url", "index")}
    text = as_json(fill_marks(rendered, lambda number: symbolic.inputs[number].slot.text))
    note = (
        f"{label} cannot store this request: the application sends all of it, and fills in the placeholders. It fills them in after it "
        "has parsed the JSON, so that no text leaves its string."
    )
    inputs = [_describe(symbolic, item) for item in symbolic.inputs]
    part = Part("request", "The request, with the values of the knobs", text)
    return Deployment(name, text, text, f"{name}.json", [part], inputs, [note], is_stored=False)


def _describe(symbolic: SymbolicRequest, item: Input) -> InputText:
    slot, is_escaped = item.slot, bool(symbolic.config["escape"])
    default = None if item.default is MISSING else as_text(item.default)
    if slot.root == "keyword":
        return InputText(slot.text, describe_keyword(slot.path, is_escaped=is_escaped), default)
    if slot.root == "query":
        return InputText(slot.text, describe_query(is_escaped=is_escaped))
    return InputText(slot.text, f"the option “{'.'.join(slot.path)}” of the query", default)
