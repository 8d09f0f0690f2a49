"""Asks search engines. One adapter per file, one contract for all of them; no Django, no models."""

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
from .loading import load_documents
from .registry import available, connect, get
from .templates import Template, parse_template

__all__ = [
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
    "Page",
    "Request",
    "Template",
    "TemplateError",
    "TooSlow",
    "UnknownEngine",
    "UnreadableAnswer",
    "available",
    "connect",
    "get",
    "load_documents",
    "parse_fields",
    "parse_template",
]
