"""Service: writes the activity log of cases and teams, and says in words what was done."""

from .recording import record, record_for_book, record_for_teams, record_once
from .sentences import KINDS, describe, kind_of

__all__ = [
    "KINDS",
    "describe",
    "kind_of",
    "record",
    "record_for_book",
    "record_for_teams",
    "record_once",
]
