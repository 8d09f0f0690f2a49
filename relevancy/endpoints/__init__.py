"""Service: endpoints and their connections to search engines."""

from relevancy.engines import available as available_engines
from relevancy.engines import get as get_engine
from relevancy.engines import label as engine_label

from . import autocomplete, indexes, suggestions, uploads
from .connection_test import ConnectionTest, test_connection
from .connections import (
    address_rules,
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
    check_credentials,
    check_option_names,
    create,
    create_archived,
    may_create,
    restore,
    save_new,
    share,
    unshare,
    update,
)
from .engine_info import address_of_page, default_engine, find_preset, is_file_engine

__all__ = [
    "CREATE_DENIED",
    "ConnectionTest",
    "address_of_page",
    "address_rules",
    "archive",
    "autocomplete",
    "available_engines",
    "build_endpoint",
    "check_credentials",
    "check_option_names",
    "connect",
    "connect_for_page",
    "connection",
    "create",
    "create_archived",
    "default_engine",
    "engine_label",
    "find_preset",
    "get_engine",
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
