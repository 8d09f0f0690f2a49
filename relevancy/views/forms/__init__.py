"""The forms of the pages. They check what a field says by itself; what belongs together is checked by the workrooms."""

from .case import FieldsForm, NameForm, QueriesForm, ScaleForm, WhereForm
from .endpoint import EndpointForm, TryForm
from .refusals import refuse
from .team import AccountForm, MemberForm, RoleForm, ShareForm, TeamForm

__all__ = [
    "AccountForm",
    "EndpointForm",
    "FieldsForm",
    "MemberForm",
    "NameForm",
    "QueriesForm",
    "RoleForm",
    "ScaleForm",
    "ShareForm",
    "TeamForm",
    "TryForm",
    "WhereForm",
    "refuse",
]
