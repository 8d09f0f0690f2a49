"""Service: endpoints and their connections to search engines."""

from . import autocomplete, indexes, suggestions, uploads
from .connection_test import ConnectionTest, Document, documents, test_connection
from .connections import (
    EngineBusy,
    check_address,
    connect,
    connect_for_page,
    connection,
    known_queries,
    sample_query,
)
from .endpoints import (
    CREATE_DENIED,
    archive,
    build_endpoint,
    create,
    may_create,
    restore,
    save_new,
    share,
    unshare,
    update,
)
from .engine_info import (
    EngineInfo,
    address_of_page,
    default_engine,
    engine_info,
    engine_infos,
    engine_label,
    is_file_engine,
)

__all__ = [
    "CREATE_DENIED",
    "ConnectionTest",
    "Document",
    "EngineBusy",
    "EngineInfo",
    "address_of_page",
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
    "indexes",
    "is_file_engine",
    "known_queries",
    "may_create",
    "restore",
    "sample_query",
    "save_new",
    "share",
    "suggestions",
    "test_connection",
    "unshare",
    "update",
    "uploads",
]
