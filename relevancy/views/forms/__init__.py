"""The forms of the pages. They check what a field says by itself; what belongs together is checked by the workrooms."""

from .case import FieldsForm, NameForm, QueriesForm, ScaleForm, WhereForm
from .endpoint import EndpointForm, TryForm
from .refusals import refuse
from .scorer import ScorerForm
from .scorer_bench import BenchForm, PolicyForm, ReplaceForm, ScorerFileForm
from .team import AccountForm, MemberForm, RoleForm, ShareForm, TeamForm

__all__ = [
    "AccountForm",
    "BenchForm",
    "EndpointForm",
    "FieldsForm",
    "MemberForm",
    "NameForm",
    "PolicyForm",
    "QueriesForm",
    "ReplaceForm",
    "RoleForm",
    "ScaleForm",
    "ScorerFileForm",
    "ScorerForm",
    "ShareForm",
    "TeamForm",
    "TryForm",
    "WhereForm",
    "refuse",
]
