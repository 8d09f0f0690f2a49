"""Service: the activity log of cases and teams."""

from .entries import Entry, EntryFilter, Log, LogPage, read_page
from .recording import record, record_for_book, record_for_teams, record_once
from .sentences import KINDS, SERVER

__all__ = [
    "KINDS",
    "SERVER",
    "Entry",
    "EntryFilter",
    "Log",
    "LogPage",
    "read_page",
    "record",
    "record_for_book",
    "record_for_teams",
    "record_once",
]
