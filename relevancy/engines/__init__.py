"""Asks search engines. One adapter per file, one contract for all of them; no Django, no models."""

from . import explaining
from .addresses import Address, AddressRules
from .base import Abilities, Connection, Engine, Hit, Page, Request
from .errors import (
    BadQuery,
    EndpointRefused,
    EndpointUnreachable,
    EngineError,
    TemplateError,
    TooSlow,
    UnknownEngine,
    UnreadableAnswer,
)
from .fields import Display, FieldSpec, parse_fields
from .json_api_answers import field_names
from .json_api_expressions import OptionError
from .json_api_options import OPTIONS as JSON_API_OPTIONS
from .json_api_options import OptionInfo
from .json_api_options import example_template as json_api_template
from .loading import load_documents
from .marks import pieces
from .registry import available, connect, get
from .templates import Template, parse_template, syntax_of

__all__ = [
    "JSON_API_OPTIONS",
    "Abilities",
    "Address",
    "AddressRules",
    "BadQuery",
    "Connection",
    "Display",
    "EndpointRefused",
    "EndpointUnreachable",
    "Engine",
    "EngineError",
    "FieldSpec",
    "Hit",
    "OptionError",
    "OptionInfo",
    "Page",
    "Request",
    "Template",
    "TemplateError",
    "TooSlow",
    "UnknownEngine",
    "UnreadableAnswer",
    "available",
    "connect",
    "explaining",
    "field_names",
    "get",
    "json_api_template",
    "load_documents",
    "parse_fields",
    "parse_template",
    "pieces",
    "syntax_of",
]
