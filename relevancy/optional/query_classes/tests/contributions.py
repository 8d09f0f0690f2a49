"""What the app adds to tests that cover the whole site; see tests/optional.py."""

from typing import Any

from relevancy.models import Case, Run, User
from relevancy.optional.query_classes import rules
from relevancy.optional.query_classes.models import RuleState, TaggedQuery, TagRule

CANARIES = {TagRule: ["tag"]}
# tests/views/test_access_matrix.py and tests/api/test_access_matrix.py
PAGES = """
address            method role    status
query_classes      GET    see     200
tag_rule_new       GET    edit    400
tag_rule_new       POST   edit    400
tag_rule_presets   POST   edit    302
tag_rule_preview   POST   edit    400
tag_rule_edit      GET    edit    200
tag_rule_edit      POST   edit    302
tag_rule_delete    GET    edit    200
tag_rule_delete    POST   edit    302
"""
OPERATIONS = """
operation          role    scope  status
list_tag_rules     see     read   200
create_tag_rule    edit    write  201
preview_tag_rule   edit    write  200
apply_tag_rules    edit    write  202
delete_tag_rule    edit    write  204
"""
OPERATION_BODIES = {
    "create_tag_rule": {"tag": "digits", "kind": "digit"},
    "preview_tag_rule": {"tag": "digits", "kind": "digit"},
}
OPERATION_PARTS = """
operation               name
delete_tag_rule         rule_id
"""


def make_objects(case: Case, run: Run, other: Run) -> dict[str, int]:
    """A rule; its id by its name in addresses."""
    rule = rules.create(case=case, tag="digits", kind="digit", settings={}, by=case.owner)
    return {"rule_id": rule.pk}


def bodies(world: Any) -> dict[str, dict[str, Any]]:
    """What is posted to an address, so that nothing but the missing role refuses it."""
    return {
        "tag_rule_edit": {"do": "save", "tag": "digits"},
        "tag_rule_delete": {"do": "keep_tags"},
    }


def make_rows(case: Case, run: Run, rater: User) -> None:
    """One row of every model."""
    rule = rules.create(case=case, tag="digits", kind="digit", settings={}, by=rater)
    query = case.book.queries.first()
    assert query is not None
    assert RuleState.objects.filter(case=case).exists()
    TaggedQuery.objects.create(rule=rule, query=query)
