"""Service: the queries of a case, their order and their tags."""

from . import tags
from .details import QueryDetails, set_details
from .ordering import move, move_by
from .pasting import PastedQueries, parse_pasted
from .queries import AddedQueries, add, describe, edit, ensure, remove, restore
from .text import check_text, normalize, parse_options

__all__ = [
    "AddedQueries",
    "PastedQueries",
    "QueryDetails",
    "add",
    "check_text",
    "describe",
    "edit",
    "ensure",
    "move",
    "move_by",
    "normalize",
    "parse_options",
    "parse_pasted",
    "remove",
    "restore",
    "set_details",
    "tags",
]
