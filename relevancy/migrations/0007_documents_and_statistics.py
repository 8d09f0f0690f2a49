"""The database no longer checks the endpoint of each document that is inserted: it checks that of the attempt. And PostgreSQL gets to know
a new run within a minute.

It takes what its statistics do not know for one row, and then reads all rankings of a large run again for each chunk. By itself it looks at
a table again after a tenth of it has changed: with ten runs, the next one stays unknown.
"""

import django.db.models.deletion
from django.db import migrations, models

OF_RUNS = ("Document", "Ranking", "QueryScore")


def analyze_sooner(apps, schema_editor):
    _set_storage(apps, schema_editor, "SET (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 2000)")


def analyze_later(apps, schema_editor):
    _set_storage(apps, schema_editor, "RESET (autovacuum_analyze_scale_factor, autovacuum_analyze_threshold)")


def _set_storage(apps, schema_editor, change):
    if schema_editor.connection.vendor == "postgresql":
        for name in OF_RUNS:
            table = schema_editor.quote_name(apps.get_model("relevancy", name)._meta.db_table)
            schema_editor.execute(f"ALTER TABLE {table} {change}")


class Migration(migrations.Migration):
    dependencies = [
        ("relevancy", "0006_rating_spreads"),
    ]

    operations = [
        migrations.AlterField(
            model_name="document",
            name="endpoint",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="documents",
                to="relevancy.endpoint",
            ),
        ),
        migrations.RunPython(analyze_sooner, analyze_later),
    ]
