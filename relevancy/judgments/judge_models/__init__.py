"""Judge models: language models that rate documents. Their ratings stand apart until an editor lets them count."""

from .answers import ParsedAnswer, UnreadableAnswer, parse_answer
from .client import JudgeClient, JudgeModelError, JudgeSettings, TimedCompletion
from .prompts import TEMPLATES, Prompt, Template, build_prompt, find_template, write_grade
from .protocols import PROTOCOLS, Completion, Protocol

__all__ = [
    "PROTOCOLS",
    "TEMPLATES",
    "Completion",
    "JudgeClient",
    "JudgeModelError",
    "JudgeSettings",
    "ParsedAnswer",
    "Prompt",
    "Protocol",
    "Template",
    "TimedCompletion",
    "UnreadableAnswer",
    "build_prompt",
    "find_template",
    "parse_answer",
    "write_grade",
]
