"""JMESPath expressions: checked when they are written, harmless when they are used, and clear about what they found."""

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

from .errors import EngineError, UnreadableAnswer

LONGEST = 300
MOST_BUILDING = 6
MOST_COPIES = 100
SHOWN = 200  # characters of a value that was found
# These can make something larger than what they are given; a long chain of them would fill any memory.
_BUILDING = frozenset({"multi_select_list", "multi_select_dict", "flatten", "function_expression"})
_BY_EXPRESSION = frozenset({"map", "max_by", "min_by", "sort_by"})
_FUNCTIONS: Mapping[str, Mapping[str, Any]] = Functions.FUNCTION_TABLE


class OptionError(EngineError):
    """An option of an endpoint that cannot be used. `option`: its name; `column` counts from 1, 0 where there is no place."""

    kind = "option"

    def __init__(self, option: str, what: str, *, column: int = 0, todo: str = "") -> None:
        self.option = option
        self.column = column
        at = f"column {column}: " if column else ""
        super().__init__(f"The option {option}: {at}{what}", todo=todo)


@dataclass(frozen=True)
class Expression:
    """A compiled expression. `option` is the endpoint's option it was written in, for messages."""

    option: str
    text: str
    _compiled: Any = field(compare=False, repr=False)

    def find(self, value: Any) -> Any:
        """What it finds in a JSON value, None for nothing. Raises `UnreadableAnswer` where a function gets what it cannot take."""
        try:
            return self._compiled.search(value)
        except (JMESPathError, RecursionError, TypeError, ValueError, ArithmeticError) as error:
            said = (
                "nested too deeply" if isinstance(error, RecursionError) else shortened(str(error).replace("\n", " "))
            )
            raise UnreadableAnswer(
                f"{self} cannot be applied to what the API answered: {said}.",
                todo="Correct the expression in the endpoint.",
            ) from error

    def __str__(self) -> str:
        return f"The expression “{self.text}” (option {self.option})"

    def unfit(self, found: Any, wanted: str, todo: str) -> UnreadableAnswer:
        """The error for something found that is not what is needed."""
        return UnreadableAnswer(f"{self} found {described(found)}, not {wanted}.", todo=todo)


def compile_expression(option: str, text: str) -> Expression:
    """Compile an expression. Raises `OptionError` with the column of what is wrong."""
    if len(text) > LONGEST:
        raise OptionError(option, f"the expression has {len(text)} characters; {LONGEST} are possible.")
    try:
        compiled = jmespath.compile(text)
    except RecursionError as error:
        raise OptionError(option, "the expression is nested too deeply.") from error
    except (JMESPathError, ValueError) as error:
        raise _wrong(option, text, error) from error
    nodes = list(_nodes(compiled.parsed))
    for node in nodes:
        if node["type"] == "function_expression":
            _check_function(option, text, node)
    if _stray(compiled.parsed):
        # It would be found as a value that is no JSON.
        there = ", ".join(f"{name}()" for name in sorted(_BY_EXPRESSION))
        raise OptionError(option, f"“{text}” has an & outside of its functions.", todo=f"It belongs in {there}.")
    building = sum(node["type"] in _BUILDING for node in nodes)
    if building > MOST_BUILDING or math.prod(map(_copies, nodes)) > MOST_COPIES:
        todo = f"Use at most {MOST_BUILDING} functions, [] and lists in one expression."
        raise OptionError(option, f"“{text}” builds too much.", todo=todo)
    return Expression(option, text, compiled)


def described(value: Any) -> str:
    """Type and beginning of a JSON value for a message."""
    if value is None:
        return "nothing"
    kinds = {bool: "a truth value", str: "a text", list: "a list", dict: "an object"}
    return f"{kinds.get(type(value), 'a number')}: {shortened(json.dumps(value, ensure_ascii=False))}"


def shortened(text: str) -> str:
    """The beginning of a text."""
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _nodes(node: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(node, dict) and "children" in node:
        yield node
        for child in node["children"]:
            yield from _nodes(child)


def _copies(node: Mapping[str, Any]) -> int:
    """How often a node can repeat what it is given."""
    if node["type"] in ("multi_select_list", "multi_select_dict"):
        return max(1, len(node["children"]))
    value = node.get("value")
    return max(1, len(value)) if node["type"] == "literal" and isinstance(value, list) else 1


def _stray(node: Any, allowed: bool = False) -> bool:
    """Whether there is an expression reference (&) that is no argument of a function made for one."""
    if not isinstance(node, dict):
        return False
    home = node["type"] == "function_expression" and node["value"] in _BY_EXPRESSION
    return (node["type"] == "expref" and not allowed) or any(_stray(child, home) for child in node["children"])


def _check_function(option: str, text: str, node: Mapping[str, Any]) -> None:
    name, given = node["value"], len(node["children"])
    called = re.search(rf"(?<![\w-]){re.escape(name)}\s*\(", text)
    column = called.start() + 1 if called else 0
    if name not in _FUNCTIONS:
        there = ", ".join(sorted(_FUNCTIONS))
        raise OptionError(option, f"there is no function {name}().", column=column, todo=f"There are: {there}.")
    if name == "join" and given and node["children"][0]["type"] != "literal":
        raise OptionError(option, "what join() puts between must be a plain text, such as ', '.", column=column)
    signature = _FUNCTIONS[name]["signature"]
    more = bool(signature and signature[-1].get("variadic"))
    if given < len(signature) or (given > len(signature) and not more):
        wanted = f"{len(signature)} or more" if more else str(len(signature))
        raise OptionError(option, f"{name}() takes {wanted} values, not {given}.", column=column)


def _wrong(option: str, text: str, error: Exception) -> OptionError:
    todo = "Expressions are written in JMESPath, such as response.docs or hits[].document."
    if isinstance(error, EmptyExpressionError):
        return OptionError(option, "the expression is empty.", todo=todo)
    if isinstance(error, LexerError):
        return OptionError(
            option, f"“{text}” is no expression: {error.message}.", column=error.lexer_position + 1, todo=todo
        )
    if isinstance(error, IncompleteExpressionError):
        return OptionError(option, f"“{text}” ends too early.", column=len(text) + 1, todo=todo)
    if isinstance(error, ParseError):
        what = f"“{text}” is no expression: “{error.token_value}” is not expected here."
        return OptionError(option, what, column=error.lex_position + 1, todo=todo)
    return OptionError(option, f"“{text}” is no expression: {error}.", todo=todo)
