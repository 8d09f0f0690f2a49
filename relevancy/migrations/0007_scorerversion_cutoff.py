from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("relevancy", "0006_query_score_error_kind"),
    ]

    operations = [
        migrations.RenameField("scorerversion", "depth", "cutoff"),
    ]
