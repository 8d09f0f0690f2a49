"""The database no longer checks the endpoint of each document that is inserted: it checks that of the attempt."""

import django.db.models.deletion
from django.db import migrations, models


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
    ]
