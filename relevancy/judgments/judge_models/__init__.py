"""Judge models: language models that rate documents. Their ratings stand apart until an editor lets them count."""

from relevancy.judgments.separate_ratings import Counted

from .answers import ParsedAnswer, UnreadableAnswer, parse_answer
from .automatic import AutomaticState, automatic_state, set_automatic, start_automatic
from .calibration import MAX_SAMPLE, MIN_SAMPLE, Calibration, ScoredQuery, calibrate, draw_sample, newest_sample
from .client import JudgeClient, JudgeModelError, JudgeSettings, TimedCompletion
from .counting import AnswerCounts, count_answers, let_count, read_failures, withdraw
from .independence import find_cases_ranked_by
from .jobs import STALE_AFTER, JobEstimate, JobProgress, cancel, estimate, latest_job, progress, run, start, sweep
from .judge_models import archive, create, set_key
from .prompts import DEFAULT, TEMPLATES, Prompt, Template, build_prompt, find_template, write_grade
from .protocols import PROTOCOLS, Completion, Protocol
from .versions import JudgeVersion, read_judge_versions

__all__ = [
    "DEFAULT",
    "MAX_SAMPLE",
    "MIN_SAMPLE",
    "PROTOCOLS",
    "STALE_AFTER",
    "TEMPLATES",
    "AnswerCounts",
    "AutomaticState",
    "Calibration",
    "Completion",
    "Counted",
    "JobEstimate",
    "JobProgress",
    "JudgeClient",
    "JudgeModelError",
    "JudgeSettings",
    "JudgeVersion",
    "ParsedAnswer",
    "Prompt",
    "Protocol",
    "ScoredQuery",
    "Template",
    "TimedCompletion",
    "UnreadableAnswer",
    "archive",
    "automatic_state",
    "build_prompt",
    "calibrate",
    "cancel",
    "count_answers",
    "create",
    "draw_sample",
    "estimate",
    "find_cases_ranked_by",
    "find_template",
    "latest_job",
    "let_count",
    "newest_sample",
    "parse_answer",
    "progress",
    "read_failures",
    "read_judge_versions",
    "run",
    "set_automatic",
    "set_key",
    "start",
    "start_automatic",
    "sweep",
    "withdraw",
    "write_grade",
]
