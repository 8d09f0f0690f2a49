"""The request of an attempt with its knobs filled in, and marks where its other placeholders are.

The adapter renders it as it renders any request, so that what is deployed is what runs have sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from relevancy import engines, runs
from relevancy.engines.templates.slots import Slot, SlotValues, as_text, fill, slot_values
from relevancy.engines.templates.template import MixedText, Parameter, Text

MARK = "\ue000"  # for private use: in no template that people write
MARKS = re.compile(f"{MARK}([0-9]+){MARK}")
MISSING = object()


@dataclass(frozen=True)
class Input:
    """What the application fills in.

    slot: one of the placeholders that it stands for. default: what is used without a value; `MISSING` if there is none.
    example: a value of this kind. is_text: whether it is part of a text, whatever its type is. is_value: whether it has its JSON type.
    """

    slot: Slot
    default: Any
    example: Any

    def value(self, values: SlotValues) -> Any:
        """Returns its value for a query. Raises `BadQuery` if there is none."""
        return fill(self.slot, values)


@dataclass(frozen=True)
class SymbolicRequest:
    """A rendered request, with `MARKS` that number the inputs. keys: of the template, if it is a JSON object."""

    rendered: Mapping[str, Any]
    inputs: list[Input]
    config: Mapping[str, Any]
    keys: frozenset[str]

    def values(self, text: str, options: Mapping[str, Any]) -> SlotValues:
        """Returns what the placeholders are filled from, for a query with options of its own."""
        merged = {**self.config["options"], **options}
        return slot_values(text, merged, self.config["knobs"], escape=self.config["escape"])


def build_symbolic(
    engine: engines.Engine, config: Mapping[str, Any], own_options: Iterable[Mapping[str, Any]]
) -> SymbolicRequest:
    """Returns the request of an attempt.

    config: of `runs.snapshot_config`. own_options: those of queries of the case, as examples. Raises `EngineError`.
    """
    builder = runs.RequestBuilder(config, config["depth"])
    known = SlotValues("", (), config["options"], config["knobs"])
    inputs: list[Input] = []
    positions: dict[tuple[Any, ...], int] = {}
    examples = list(own_options)

    def resolve(slot: Slot) -> Any:
        if slot.root == "knob":
            return fill(slot, known)
        key = (slot.root, slot.path, slot.default, slot.bare and slot.default is not None)
        if key not in positions:
            positions[key] = len(inputs)
            inputs.append(_input(slot, known, examples))
        return f"{MARK}{positions[key]}{MARK}"

    request = builder.request("", {})
    template = _filled(request.template, resolve)
    rendered = engine.render(replace(request, template=template, knobs={}, escape=False, highlight=False))
    keys = frozenset(template.body) if isinstance(template.body, dict) else frozenset()
    return SymbolicRequest(rendered, inputs, config, keys)


def _input(slot: Slot, known: SlotValues, own_options: Iterable[Mapping[str, Any]]) -> Input:
    if slot.root != "qOption":
        return Input(slot, MISSING if slot.root == "query" else "", "")
    default = _value(slot, known)
    without_default = replace(slot, default=None)
    own = (_value(without_default, replace(known, options=options)) for options in own_options)
    example = next((value for value in own if value is not MISSING), default)
    return Input(slot, default, "" if example is MISSING else example)


def _value(slot: Slot, values: SlotValues) -> Any:
    try:
        return fill(slot, values)
    except engines.BadQuery:
        return MISSING


def _filled(template: engines.Template, resolve: Callable[[Slot], Any]) -> engines.Template:
    """Returns the template with literals instead of its slots."""

    def text(node: Text) -> str:
        parts = node.parts if isinstance(node, MixedText) else (node,)
        return "".join(part if isinstance(part, str) else as_text(resolve(part)) for part in parts)

    def member(node: Any) -> Any:
        if isinstance(node, Slot):
            return resolve(node)
        if isinstance(node, MixedText):
            return text(node)
        if isinstance(node, dict):
            return {text(name): member(value) for name, value in node.items()}
        return [member(item) for item in node] if isinstance(node, list) else node

    parameters = tuple(
        Parameter(text(item.name), text(item.value), item.line, item.column) for item in template.parameters
    )
    return replace(template, slots=(), parameters=parameters, body=member(template.body))


def fill_marks(node: Any, text_of: Callable[[int], str]) -> Any:
    """Returns JSON data with texts instead of marks."""
    if isinstance(node, str):
        return MARKS.sub(lambda match: text_of(int(match[1])), node)
    if isinstance(node, Mapping):
        return {fill_marks(name, text_of): fill_marks(value, text_of) for name, value in node.items()}
    return [fill_marks(item, text_of) for item in node] if isinstance(node, list | tuple) else node


def has_marks(node: Any) -> bool:
    """Whether there is a mark in JSON data."""
    if isinstance(node, str):
        return MARK in node
    if isinstance(node, Mapping):
        return any(MARK in name or has_marks(value) for name, value in node.items())
    return isinstance(node, list | tuple) and any(map(has_marks, node))
