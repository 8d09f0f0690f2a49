"""Stores the documents with several grades, so that finding them does not read all ratings of a book, and adds an index for what a
rater judged last."""

import django.db.models.deletion
from django.db import migrations, models

STORE = """
    INSERT INTO relevancy_ratingspread (query_id, doc_id, spread, count, decisions)
    SELECT
        query_id,
        doc_id,
        COALESCE(MAX(value) FILTER (WHERE NOT is_adjudication) - MIN(value) FILTER (WHERE NOT is_adjudication), 0),
        COUNT(*) FILTER (WHERE NOT is_adjudication),
        COUNT(*) FILTER (WHERE is_adjudication)
    FROM relevancy_rating
    WHERE verdict = 'rated'
    GROUP BY query_id, doc_id
    HAVING COUNT(*) > 1
"""


class Migration(migrations.Migration):
    dependencies = [
        ("relevancy", "0005_stored_exports"),
    ]

    operations = [
        migrations.CreateModel(
            name="RatingSpread",
            fields=[
                (
                    "query",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rating_spreads",
                        to="relevancy.query",
                    ),
                ),
                ("doc_id", models.CharField(max_length=500, verbose_name="document id")),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "query", "doc_id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("spread", models.FloatField()),
                ("count", models.PositiveIntegerField()),
                ("decisions", models.PositiveSmallIntegerField()),
            ],
        ),
        migrations.RunSQL(STORE, migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name="ratingchange",
            index=models.Index(
                condition=models.Q(("source__in", ["page", "undo"])),
                fields=["by", "-id"],
                name="rating_change_judged_by_user",
            ),
        ),
    ]
