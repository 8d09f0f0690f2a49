"""JMESPath expressions: checked when an endpoint is saved, bounded in what they can build, with helpful errors."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import jmespath  # type: ignore[import-untyped]
from jmespath.exceptions import (  # type: ignore[import-untyped]
    EmptyExpressionError,
    IncompleteExpressionError,
    JMESPathError,
    LexerError,
    ParseError,
)
from jmespath.functions import Functions  # type: ignore[import-untyped]
from jmespath.visitor import TreeInterpreter  # type: ignore[import-untyped]

from relevancy.engines.errors import OptionError, UnreadableResponse

MAX_LENGTH = 300
MAX_BUILDING_NODES = 6
MAX_COPIES = 100
MAX_VALUE_LENGTH = 200  # characters of a value in a message
MAX_NAMES = 12  # of an object in a message
# These can return something larger than their input; a long chain of them could fill any memory.
_BUILDING = frozenset({"multi_select_list", "multi_select_dict", "flatten", "function_expression"})
_TAKES_EXPRESSION = frozenset({"map", "max_by", "min_by", "sort_by"})
_FUNCTIONS: Mapping[str, Mapping[str, Any]] = Functions.FUNCTION_TABLE
_INTERPRETER = TreeInterpreter()


@dataclass(frozen=True)
class Expression:
    """A compiled expression. `option`: the endpoint's option that contains it, for messages."""

    option: str
    text: str
    _compiled: Any = field(compare=False, repr=False)

    def find(self, value: Any) -> Any:
        """Returns what it finds in a JSON value, None for nothing.

        Raises `UnreadableResponse` if a function receives an argument of the wrong type.
        """
        try:
            return self._compiled.search(value)
        except (JMESPathError, RecursionError, TypeError, ValueError, ArithmeticError) as error:
            reason = (
                "nested too deeply" if isinstance(error, RecursionError) else truncate(str(error).replace("\n", " "))
            )
            raise UnreadableResponse(
                f"{self} cannot be applied to the API's response: {reason}.",
                hint="Correct the expression in the endpoint.",
            ) from error

    def __str__(self) -> str:
        return f"The expression “{self.text}” (option {self.option})"

    def mismatch(self, value: Any, expected: str, hint: str, *, searched: Any = None) -> UnreadableResponse:
        """Returns the error for a value of the wrong type. searched: the JSON value in which it was looked for."""
        missing = self.missing_step(searched) if value is None else ""
        return UnreadableResponse(
            f"{self} found {describe(value)}, not {expected}.{missing and ' '}{missing}", hint=hint
        )

    def missing_step(self, searched: Any) -> str:
        """Returns a sentence about the first name of a path that a JSON value does not have; empty if the expression is not a path.

        An example is: “data” has no “items”; it is an object with found, took.
        """
        owner, path = searched, ""
        for step in _steps(self._compiled.parsed):
            value = _INTERPRETER.visit(step, owner)
            name = f"[{step['value']}]" if step["type"] == "index" else quote_name(str(step["value"]))
            if value is None:
                subject = f"“{path}”" if path else "The value that it is applied to"
                shown = f"element {step['value']}" if step["type"] == "index" else f"“{name}”"
                return f"{subject} has no {shown}; it is {outline(owner)}."
            path = path + name if step["type"] == "index" else f"{path}.{name}".removeprefix(".")
            owner = value
        return ""


def compile_expression(option: str, text: str) -> Expression:
    """Compiles an expression. Raises `OptionError` with the column of the mistake."""
    if len(text) > MAX_LENGTH:
        raise OptionError(option, f"the expression has {len(text)} characters; at most {MAX_LENGTH} are allowed.")
    try:
        compiled = jmespath.compile(text)
    except RecursionError as error:
        raise OptionError(option, "the expression is nested too deeply.") from error
    except (JMESPathError, ValueError) as error:
        raise _syntax_error(option, text, error) from error
    nodes = list(_nodes(compiled.parsed))
    for node in nodes:
        if node["type"] == "function_expression":
            _check_function(option, text, node)
    if _has_stray_reference(compiled.parsed):
        # It would return a value that is not JSON.
        functions = ", ".join(f"{name}()" for name in sorted(_TAKES_EXPRESSION))
        raise OptionError(option, f"“{text}” has an & outside of a function.", hint=f"Use & only in {functions}.")
    building_nodes = sum(node["type"] in _BUILDING for node in nodes)
    if building_nodes > MAX_BUILDING_NODES or math.prod(map(_copies, nodes)) > MAX_COPIES:
        hint = f"Use at most {MAX_BUILDING_NODES} functions, [] and lists in one expression."
        raise OptionError(option, f"“{text}” is too complex.", hint=hint)
    return Expression(option, text, compiled)


def quote_name(name: str) -> str:
    """Returns a name as an expression contains it: in quotes unless it consists of letters, digits and underscores."""
    return name if name.isidentifier() and name.isascii() else f'"{truncate(name)}"'


def outline(value: Any) -> str:
    """Returns what a JSON value is, with the names in an object or the length of a list."""
    if isinstance(value, dict):
        names = ", ".join(truncate(name) for name in list(value)[:MAX_NAMES])
        more = ", …" if len(value) > MAX_NAMES else ""
        return f"an object with {names}{more}" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value):,}" if value else "an empty list"
    return describe(value)


def describe(value: Any) -> str:
    """Returns type and beginning of a JSON value for a message."""
    if value is None:
        return "nothing"
    types = {bool: "a boolean", str: "a string", list: "a list", dict: "an object"}
    return f"{types.get(type(value), 'a number')}: {truncate(json.dumps(value, ensure_ascii=False))}"


def truncate(text: str) -> str:
    """Returns the beginning of a text."""
    return text if len(text) <= MAX_VALUE_LENGTH else text[: MAX_VALUE_LENGTH - 1] + "…"


def _steps(node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Returns the names and indexes that a path consists of; none for any other expression."""
    if node["type"] in ("field", "index"):
        return [node]
    if node["type"] not in ("subexpression", "index_expression"):
        return []
    parts = [_steps(child) for child in node["children"]]
    return [step for part in parts for step in part] if all(parts) else []


def _nodes(node: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(node, dict) and "children" in node:
        yield node
        for child in node["children"]:
            yield from _nodes(child)


def _copies(node: Mapping[str, Any]) -> int:
    """Returns how often a node can repeat its input."""
    if node["type"] in ("multi_select_list", "multi_select_dict"):
        return max(1, len(node["children"]))
    value = node.get("value")
    return max(1, len(value)) if node["type"] == "literal" and isinstance(value, list) else 1


def _has_stray_reference(node: Any, allowed: bool = False) -> bool:
    """Whether an expression reference (&) is not an argument of a function that takes one."""
    if not isinstance(node, dict):
        return False
    takes_expression = node["type"] == "function_expression" and node["value"] in _TAKES_EXPRESSION
    return (node["type"] == "expref" and not allowed) or any(
        _has_stray_reference(child, takes_expression) for child in node["children"]
    )


def _check_function(option: str, text: str, node: Mapping[str, Any]) -> None:
    name, argument_count = node["value"], len(node["children"])
    call = re.search(rf"(?<![\w-]){re.escape(name)}\s*\(", text)
    column = call.start() + 1 if call else 0
    if name not in _FUNCTIONS:
        names = ", ".join(sorted(_FUNCTIONS))
        raise OptionError(option, f"{name}() is not a function.", column=column, hint=f"Use one of: {names}.")
    if name == "join" and argument_count and node["children"][0]["type"] != "literal":
        raise OptionError(option, "the separator of join() must be a literal string, such as ', '.", column=column)
    signature = _FUNCTIONS[name]["signature"]
    is_variadic = bool(signature and signature[-1].get("variadic"))
    if argument_count < len(signature) or (argument_count > len(signature) and not is_variadic):
        expected = f"{len(signature)} or more" if is_variadic else str(len(signature))
        raise OptionError(option, f"{name}() takes {expected} arguments, not {argument_count}.", column=column)


def _syntax_error(option: str, text: str, error: Exception) -> OptionError:
    hint = "Write JMESPath, such as response.docs or hits[].document."
    if isinstance(error, EmptyExpressionError):
        return OptionError(option, "the expression is empty.", hint=hint)
    if isinstance(error, LexerError):
        problem = f"“{text}” is not a valid expression: {error.message}."
        return OptionError(option, problem, column=error.lexer_position + 1, hint=hint)
    if isinstance(error, IncompleteExpressionError):
        return OptionError(option, f"“{text}” is incomplete.", column=len(text) + 1, hint=hint)
    if isinstance(error, ParseError):
        problem = f"“{text}” is not a valid expression: “{error.token_value}” is not expected here."
        return OptionError(option, problem, column=error.lex_position + 1, hint=hint)
    return OptionError(option, f"“{text}” is not a valid expression: {error}.", hint=hint)
