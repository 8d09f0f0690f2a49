"""What the app adds to tests that cover the whole site; see tests/optional.py."""

from typing import Any

from relevancy.models import Case, Run
from relevancy.optional.groups import groups
from relevancy.optional.groups.models import CaseGroup

CANARIES = {CaseGroup: ["name"]}
EDITABLE = "groups.casegroup"  # in the administration
# tests/views/test_access_matrix.py and tests/api/test_access_matrix.py
PAGES = """
address                method role    status
groups                 GET    all     200
group_new              GET    all     200
group_new              POST   all     302
group                  GET    see     200
group_edit             GET    edit    200
group_edit             POST   edit    302
group_case_add         POST   edit    302
group_case_remove      POST   edit    302
group_delete           GET    own     200
group_delete           POST   own     302
"""
FORM_PAIRS = """
route            first  second  fields
group_case_add   edit   see     case
group_edit       own    edit    teams
"""
FORM_TABLES = {"group_edit": "groups_casegroup"}  # written although the second object is refused
OPERATIONS = """
operation          role    scope  status
list_groups        all     read   200
read_group         see     read   200
read_group_history see     read   200
create_group       all     write  201
change_group       edit    write  200
delete_group       own     write  204
add_case_to_group  edit    write  204
remove_case_from_group edit write 204
"""
OPERATION_BODIES = {"create_group": {"name": "Markets", "team_ids": []}, "change_group": {"name": "Markets"}}
OPERATION_PAIRS = """
operation            first  second  name
create_group         -      edit    team_ids
change_group         own    edit    team_ids
add_case_to_group    edit   see     case_id
"""
OPERATION_PARTS = """
operation               name
remove_case_from_group  case_id
"""


def make_objects(case: Case, run: Run, other: Run) -> dict[str, int]:
    """A group of the case, shared like it; its id by its name in addresses."""
    group = groups.create(name="Markets", by=case.owner, teams=case.teams.all())
    groups.add_case(group=group, case=case)
    return {"group_id": group.pk}


def bodies(world: Any) -> dict[str, dict[str, Any]]:
    """What is posted to an address, so that nothing but the missing role refuses it."""
    named = {"name": "Markets", "weighting": "cases"}
    return {"group_new": named, "group_edit": named, "group_case_add": {"case": world.case.pk}}


def changes_of(case: Case) -> dict[str, tuple[str, dict[str, Any], dict[str, Any]]]:
    """Of objects of a case, by address: the method, and two different bodies."""
    group_id = make_objects(case, case.runs.get(), case.runs.get())["group_id"]
    return {f"/groups/{group_id}": ("PATCH", {"name": "One"}, {"name": "Two"})}


def grow(case: Case) -> None:
    """One more row of every model."""
    group = CaseGroup.objects.create(name="Markets", owner=case.owner)
    group.cases.add(case)
    group.comparisons.create(key=f"{group.pk}", inputs=[])
