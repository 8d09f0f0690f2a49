"""Makes the rows of scores smaller on PostgreSQL, and drops the index of their versions: no statement needs it.

SQLite stores small numbers in few bytes anyway, and would copy the whole table for a change of its columns.
"""

import django.db.models.deletion
from django.db import migrations, models


def narrow(apps, schema_editor):
    model = apps.get_model("relevancy", "QueryScore")
    for name in schema_editor._constraint_names(model, ["version_id"], index=True):
        schema_editor.execute(schema_editor._delete_index_sql(model, name))
    _change_type(schema_editor, model, "integer")


def widen(apps, schema_editor):
    model = apps.get_model("relevancy", "QueryScore")
    _change_type(schema_editor, model, "bigint")
    schema_editor.execute(schema_editor._create_index_sql(model, fields=[model._meta.get_field("version")]))


def _change_type(schema_editor, model, name):
    if schema_editor.connection.vendor == "postgresql":
        table = schema_editor.quote_name(model._meta.db_table)
        schema_editor.execute(f"ALTER TABLE {table} ALTER COLUMN revision TYPE {name}")


class Migration(migrations.Migration):
    dependencies = [
        ("relevancy", "0003_book_index"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(narrow, widen)],
            state_operations=[
                migrations.AlterField(
                    model_name="queryscore",
                    name="revision",
                    field=models.PositiveIntegerField(),
                ),
                migrations.AlterField(
                    model_name="queryscore",
                    name="version",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="query_scores",
                        to="relevancy.scorerversion",
                    ),
                ),
            ],
        ),
    ]
