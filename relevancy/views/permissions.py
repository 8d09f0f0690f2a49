"""Who may open or change an object: the one way for every view.

The QuerySets decide about access (`Case.objects.visible_to(user)`, `.rateable_by(user)` …); this module turns their answer
into a 404 or a 403.
"""

from typing import Any, Protocol

from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.shortcuts import get_object_or_404

from relevancy.models import Role, Scorer, Team, User


class AccessQuerySet[M: Model](Protocol):
    """A QuerySet or manager that knows who may do what: such as those of `Case`, `Book` and `Team`.

    `rateable_by` is only needed where objects can be rated, `editable_by` where editing differs from owning.
    """

    def visible_to(self, user: User) -> QuerySet[M]: ...

    def owned_by(self, user: User) -> QuerySet[M]: ...


QUERYSET_METHODS = {
    Role.VIEWER: "visible_to",
    Role.RATER: "rateable_by",
    Role.EDITOR: "editable_by",
    Role.OWNER: "owned_by",
}


def get_or_403[M: Model](
    queryset: AccessQuerySet[M], user: User, pk: int, *, needs: Role = Role.EDITOR, hint: str = ""
) -> M:
    """Returns the object with this primary key if the user has at least the role `needs` on it.

    Raises `Http404` if the object does not exist or the user cannot see it. Raises `PermissionDenied` if the user sees it but
    has a lower role; the message names the role and who can give it, and ends with `hint`. One query if access is granted,
    two if not.
    """
    allowed: QuerySet[M] = getattr(queryset, QUERYSET_METHODS[needs])(user)
    granted = allowed.filter(pk=pk).first()
    if granted is not None:
        return granted
    visible = get_object_or_404(queryset.visible_to(user), pk=pk)
    raise PermissionDenied(f"{_missing_role(visible, needs)} {hint}".rstrip())


def require_admin(user: User) -> None:
    """Raises `PermissionDenied` unless the user is an admin of the site."""
    if not user.is_superuser:
        raise PermissionDenied("Only an admin of this site can do this.")


def _missing_role(visible: Any, needs: Role) -> str:
    if isinstance(visible, Team):
        return f"You need the role {needs.label} in the team “{visible}”. An owner of the team can give it to you."
    if visible.owner is None:
        return f"“{visible}” is available to all users; only an admin can change it."
    if isinstance(visible, Scorer) and needs == Role.OWNER:
        return f"Only the owner of “{visible}”, {visible.owner}, can do this."
    return (
        f"You need the role {needs.label} on “{visible}”. "
        f"Its owner, {visible.owner}, or an owner of a team it is shared with can give it to you."
    )
