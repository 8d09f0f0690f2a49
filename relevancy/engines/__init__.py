"""Search engines: one package per adapter, one contract for all of them (`Engine`). Knows neither Django nor the models."""

from .base import Engine, Outcome
from .errors import (
    CONNECTION_ERRORS,
    BadQuery,
    EndpointRefused,
    EndpointUnreachable,
    EngineError,
    InvalidEngine,
    OptionError,
    RequestAborted,
    TemplateError,
    TooSlow,
    UnknownEngine,
    UnreadableResponse,
    UnsupportedByEngine,
)
from .explanations import contributions, failed_clauses, matching_part, parse_explanation
from .fields.specs import FieldSpec, parse_fields
from .fields.values import field_names
from .http_engine import HttpEngine
from .registry import available, connect, find, get, label, register
from .templates.slots import knob_text, read_knob_value
from .templates.template import Template, parse_template, syntax_of
from .transport.addresses import Address, AddressRules
from .transport.client import HttpClient
from .transport.concurrency import in_parallel
from .transport.response import DECODER, Response, excerpt
from .transport.retries import RetryPolicy
from .types import (
    Abilities,
    AddressField,
    Connection,
    Contribution,
    Display,
    ExplanationNode,
    FailedClause,
    Hit,
    Interpretation,
    KnobValue,
    OptionInfo,
    Page,
    Preset,
    Request,
    TemplateWarning,
    Timing,
    WeightedClause,
)

__all__ = [
    "CONNECTION_ERRORS",
    "DECODER",
    "Abilities",
    "Address",
    "AddressField",
    "AddressRules",
    "BadQuery",
    "Connection",
    "Contribution",
    "Display",
    "EndpointRefused",
    "EndpointUnreachable",
    "Engine",
    "EngineError",
    "ExplanationNode",
    "FailedClause",
    "FieldSpec",
    "Hit",
    "HttpClient",
    "HttpEngine",
    "Interpretation",
    "InvalidEngine",
    "KnobValue",
    "OptionError",
    "OptionInfo",
    "Outcome",
    "Page",
    "Preset",
    "Request",
    "RequestAborted",
    "Response",
    "RetryPolicy",
    "Template",
    "TemplateError",
    "TemplateWarning",
    "Timing",
    "TooSlow",
    "UnknownEngine",
    "UnreadableResponse",
    "UnsupportedByEngine",
    "WeightedClause",
    "available",
    "connect",
    "contributions",
    "excerpt",
    "failed_clauses",
    "field_names",
    "find",
    "get",
    "in_parallel",
    "knob_text",
    "label",
    "matching_part",
    "parse_explanation",
    "parse_fields",
    "parse_template",
    "read_knob_value",
    "register",
    "syntax_of",
]
