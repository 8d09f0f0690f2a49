"""Every scorer of a case has the version it is scored with."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("relevancy", "0004_more_shipped_scorers")]
    operations = [
        migrations.AlterField(
            "casescorer",
            "version",
            models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="case_scorers", to="relevancy.scorerversion"
            ),
        ),
    ]
