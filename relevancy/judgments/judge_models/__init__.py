"""Judge models: language models that rate documents. Their ratings stand apart until an editor lets them count."""

from .answers import ParsedAnswer, UnreadableAnswer, parse_answer
from .calibration import Calibration, ScoredQuery, calibrate, draw_sample, newest_sample
from .client import JudgeClient, JudgeModelError, JudgeSettings, TimedCompletion
from .counting import Counted, let_count, withdraw
from .jobs import STALE_AFTER, JobEstimate, JobProgress, cancel, estimate, progress, run, start
from .judge_models import archive, create, set_key
from .prompts import TEMPLATES, Prompt, Template, build_prompt, find_template, write_grade
from .protocols import PROTOCOLS, Completion, Protocol

__all__ = [
    "PROTOCOLS",
    "STALE_AFTER",
    "TEMPLATES",
    "Calibration",
    "Completion",
    "Counted",
    "JobEstimate",
    "JobProgress",
    "JudgeClient",
    "JudgeModelError",
    "JudgeSettings",
    "ParsedAnswer",
    "Prompt",
    "Protocol",
    "ScoredQuery",
    "Template",
    "TimedCompletion",
    "UnreadableAnswer",
    "archive",
    "build_prompt",
    "calibrate",
    "cancel",
    "create",
    "draw_sample",
    "estimate",
    "find_template",
    "let_count",
    "newest_sample",
    "parse_answer",
    "progress",
    "run",
    "set_key",
    "start",
    "withdraw",
    "write_grade",
]
