"""Service: cases that the worker runs by itself at set times, and what is reported about them."""

from .checks import finish_abandoned, finish_run
from .notifications import send_due
from .schedules import possible_recipients, remove, save, start_due
from .times import describe_times, next_time

__all__ = [
    "describe_times",
    "finish_abandoned",
    "finish_run",
    "next_time",
    "possible_recipients",
    "remove",
    "save",
    "send_due",
    "start_due",
]
