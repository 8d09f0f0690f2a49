"""Service: cases and groups that the worker runs by itself at set times, and what is reported about them."""

from .checks import finish_abandoned, finish_run
from .group_schedules import baseline_checks, group_recipients, remove_from_group, save_for_group, with_visibility
from .notifications import SentMessage, send_due, send_test_messages
from .schedules import possible_recipients, remove, save
from .starting import start_due
from .times import describe_times, next_time

__all__ = [
    "SentMessage",
    "baseline_checks",
    "describe_times",
    "finish_abandoned",
    "finish_run",
    "group_recipients",
    "next_time",
    "possible_recipients",
    "remove",
    "remove_from_group",
    "save",
    "save_for_group",
    "send_due",
    "send_test_messages",
    "start_due",
    "with_visibility",
]
