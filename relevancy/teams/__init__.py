"""Service: teams and their members."""

from . import invitations
from .teams import add_member, create, remove_member, set_role

__all__ = [
    "add_member",
    "create",
    "invitations",
    "remove_member",
    "set_role",
]
