"""Service: the queries of a case, their order and their tags.

See docs/decisions/0001.
"""

from . import tags
from .details import (
    DETAILS_OF_QUERY,
    DetailChanges,
    QueryDetails,
    change_details,
    clean_detail,
    count_changes,
    describe_all,
    set_details,
)
from .links import (
    MAX_COMPARED_TEXTS,
    MAX_LINKED,
    create_links,
    find_links,
    link,
    links_of,
    similar_queries,
    unlink,
    unlink_all,
)
from .ordering import move, move_by
from .pasting import MAX_IMPORTED, MAX_QUERIES, PastedQueries, parse_lines, parse_pasted
from .queries import (
    AddedQueries,
    add,
    add_prepared,
    append,
    delete_prepared,
    describe,
    edit,
    ensure,
    find,
    prepare,
    record_added,
    remove,
    restore,
)
from .text import check_text, normalize

__all__ = [
    "DETAILS_OF_QUERY",
    "MAX_COMPARED_TEXTS",
    "MAX_IMPORTED",
    "MAX_LINKED",
    "MAX_QUERIES",
    "AddedQueries",
    "DetailChanges",
    "PastedQueries",
    "QueryDetails",
    "add",
    "add_prepared",
    "append",
    "change_details",
    "check_text",
    "clean_detail",
    "count_changes",
    "create_links",
    "delete_prepared",
    "describe",
    "describe_all",
    "edit",
    "ensure",
    "find",
    "find_links",
    "link",
    "links_of",
    "move",
    "move_by",
    "normalize",
    "parse_lines",
    "parse_pasted",
    "prepare",
    "record_added",
    "remove",
    "restore",
    "set_details",
    "similar_queries",
    "tags",
    "unlink",
    "unlink_all",
]
