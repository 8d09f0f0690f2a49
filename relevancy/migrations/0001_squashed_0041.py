"""Migrations 1 to 41 in one step, for a new database. A database that has some of them goes on with the others.

Rendering the models of each step takes seconds; here they are rendered once.
"""

import importlib

from django.db import migrations
from django.db.migrations.operations.base import Operation

NAMES = [
    "0001_initial",
    "0002_default_scorers",
    "0003_endpoint_allowances",
    "0004_sign_in_counters",
    "0005_attempt_details_and_undo",
    "0006_query_score_error_kind",
    "0007_scorerversion_cutoff",
    "0008_right_to_create_endpoints",
    "0009_invitations",
    "0010_stored_indexes",
    "0011_comparisons",
    "0012_explanations",
    "0013_judging",
    "0014_stored_comparisons",
    "0015_sums_of_scores",
    "0016_api_tokens",
    "0017_schedules",
    "0018_rating_imports",
    "0019_gap_of_a_query_score",
    "0020_judge_models",
    "0021_book_changes",
    "0022_invitation_links",
    "0023_judge_jobs_in_background",
    "0024_user_sessions",
    "0025_second_factor",
    "0026_profile",
    "0027_query_links",
    "0028_external_accounts",
    "0029_preferences",
    "0030_qualification",
    "0031_repeats",
    "0032_automatic_judging",
    "0033_public_links",
    "0034_case_history_queued",
    "0035_case_groups",
    "0036_group_comparisons",
    "0037_cheaper_rows",
    "0038_activity_log",
    "0039_click_logs",
    "0040_judging_by_difference",
    "0041_pictures_of_judge_models",
]
OPERATIONS = [
    operation
    for name in NAMES
    for operation in importlib.import_module(f"relevancy.migrations.{name}").Migration.operations
]
create_scorers = importlib.import_module("relevancy.migrations.0002_default_scorers").create_scorers


class CreateModels(Operation):
    """Creates each model once, as OPERATIONS leave it. Their steps on data have nothing to do in empty tables."""

    def state_forwards(self, app_label, state):
        state.__dict__.pop("apps", None)  # as long as models are rendered, each operation renders them again
        for operation in OPERATIONS:
            operation.state_forwards(app_label, state)

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        for model in self._models(app_label, schema_editor, to_state):
            schema_editor.create_model(model)

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        for model in reversed(self._models(app_label, schema_editor, from_state)):
            schema_editor.delete_model(model)

    def describe(self):
        return "Create the models of migrations 1 to 41"

    def _models(self, app_label, schema_editor, state):
        models = [state.apps.get_model(*key) for key in state.models if key[0] == app_label]
        return [model for model in models if self.allow_migrate_model(schema_editor.connection.alias, model)]


class Migration(migrations.Migration):
    initial = True
    replaces = [("relevancy", name) for name in NAMES]
    dependencies = [("auth", "0012_alter_user_first_name_max_length")]
    operations = [CreateModels(), migrations.RunPython(create_scorers, migrations.RunPython.noop)]
