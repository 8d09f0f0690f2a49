"""Service: endpoints and their connections to search engines."""

from . import autocomplete, suggestions, uploads
from .connection_test import ConnectionTest, documents, test_connection
from .connections import (
    EngineBusy,
    check_address,
    connect,
    connect_for_page,
    connection,
    known_queries,
    sample_query,
)
from .endpoints import archive, build_endpoint, create, may_create, restore, update
from .engine_info import EngineInfo, default_engine, engine_info, engine_infos, engine_label, is_file_engine

__all__ = [
    "ConnectionTest",
    "EngineBusy",
    "EngineInfo",
    "archive",
    "autocomplete",
    "build_endpoint",
    "check_address",
    "connect",
    "connect_for_page",
    "connection",
    "create",
    "default_engine",
    "documents",
    "engine_info",
    "engine_infos",
    "engine_label",
    "is_file_engine",
    "known_queries",
    "may_create",
    "restore",
    "sample_query",
    "suggestions",
    "test_connection",
    "update",
    "uploads",
]
