"""What the first migration of the core and of each optional app creates.

Each operation on its own would render the models of the whole site again, which takes ten times as long; `CreateTables` renders them once.
"""

from django.db.migrations.operations.base import Operation


class CreateTables(Operation):
    """Creates the tables of all models as a list of operations leaves them."""

    def __init__(self, operations):
        self.operations = operations

    def state_forwards(self, app_label, state):
        state.__dict__.pop("apps", None)  # as long as models are rendered, each operation renders them again
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        for model in self._models(app_label, to_state):
            schema_editor.create_model(model)

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        for model in reversed(self._models(app_label, from_state)):
            schema_editor.delete_model(model)

    def describe(self):
        return "Create the tables of the app"

    def _models(self, app_label, state):
        return [state.apps.get_model(*key) for key in state.models if key[0] == app_label]
