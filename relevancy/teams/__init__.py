"""Service: teams and their members."""

from . import invitations
from .teams import (
    add_member,
    create,
    record_joined,
    record_removed,
    record_role,
    remove_member,
    set_role,
)

__all__ = [
    "add_member",
    "create",
    "invitations",
    "record_joined",
    "record_removed",
    "record_role",
    "remove_member",
    "set_role",
]
