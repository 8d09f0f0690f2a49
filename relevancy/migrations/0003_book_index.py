"""Drops the index of the books of queries: that of their texts leads from a book to its queries, too."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("relevancy", "0002_shipped_scorers"),
    ]

    operations = [
        migrations.AlterField(
            model_name="query",
            name="book",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="queries", to="relevancy.book"
            ),
        ),
    ]
