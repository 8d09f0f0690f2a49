"""Service: teams and their members."""

from . import invitations
from .teams import (
    add_member,
    create,
    is_only_rater,
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
    "is_only_rater",
    "record_joined",
    "record_removed",
    "record_role",
    "remove_member",
    "set_role",
]
