import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def name_raters(apps, schema_editor):
    """Gives the ratings of imports that have not finished the rater that their import had."""
    rating_import = apps.get_model("relevancy", "RatingImport").objects.filter(pk=OuterRef("rating_import"))
    apps.get_model("relevancy", "ImportedRating").objects.update(rater=Subquery(rating_import.values("rater")))


class Migration(migrations.Migration):
    dependencies = [
        ("relevancy", "0046_knob_ranges"),
    ]

    operations = [
        migrations.AddField(
            model_name="ratingimport",
            name="new_raters",
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name="importedrating",
            name="rater",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.RunPython(name_raters, elidable=True),
        migrations.AlterField(
            model_name="importedrating",
            name="rater",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.RemoveConstraint(
            model_name="importedrating",
            name="imported_rating_once_per_import",
        ),
        migrations.AddConstraint(
            model_name="importedrating",
            constraint=models.UniqueConstraint(
                fields=("query", "doc_id", "rater", "rating_import"), name="imported_rating_once_per_rater"
            ),
        ),
        migrations.AlterField(
            model_name="importedrating",
            name="rating_import",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="ratings",
                to="relevancy.ratingimport",
            ),
        ),
        migrations.RemoveField(
            model_name="ratingimport",
            name="rater",
        ),
        migrations.AlterField(
            model_name="ratingchange",
            name="query",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="rating_changes",
                to="relevancy.query",
            ),
        ),
        migrations.AlterField(
            model_name="ratingchange",
            name="rater",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="ratingchange",
            name="by",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="rating_changes",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="ratingchange",
            name="undoes",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="undone_by",
                to="relevancy.ratingchange",
            ),
        ),
        migrations.AddConstraint(
            model_name="ratingchange",
            constraint=models.UniqueConstraint(
                condition=models.Q(undoes__isnull=False), fields=("undoes",), name="rating_change_undone_once"
            ),
        ),
    ]
