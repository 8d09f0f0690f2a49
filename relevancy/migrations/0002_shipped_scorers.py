"""The scorers that every installation starts with; "AvgEdit" is the default."""

from django.db import migrations

ONE_TO_TEN = [[grade, ""] for grade in range(1, 11)]
ZERO_TO_THREE = [[0, "Poor"], [1, "Fair"], [2, "Good"], [3, "Perfect"]]
YES_OR_NO = [[0, "Irrelevant"], [1, "Relevant"]]

SHIPPED = (
    ("AvgEdit", "AvgEdit", ONE_TO_TEN, "Average rating of what is shown, minus the distance from the best possible list."),
    ("nDCG@10", "nDCG@10", ZERO_TO_THREE, "How close the first ten come to the best ten known, early ranks counting more."),
    ("DCG@10", "DCG@10", ZERO_TO_THREE, "Discounted gain of the first ten, per cent of ten documents of the top grade."),
    ("CG@10", "CG(gain='linear')@10", ZERO_TO_THREE, "Gain of the first ten whatever their order, per cent of ten of the top grade."),
    ("ERR@10", "ERR@10", ZERO_TO_THREE, "How soon a user who reads from the top is satisfied."),
    ("P@10", "P@10", YES_OR_NO, "Share of relevant documents among ten."),
    ("AP@10", "AP@10", YES_OR_NO, "Precision at each relevant document of the first ten, over all known relevant ones."),
    ("AP", "AP", YES_OR_NO, "Precision at each relevant document, over all known relevant ones."),
    ("RR@10", "RR@10", YES_OR_NO, "One divided by the rank of the first relevant document."),
    ("Judged@10", "Judged@10", ZERO_TO_THREE, "Share of the first ten that has been rated: how far the other scores can be trusted."),
)


def add(apps, schema_editor):
    Scorer = apps.get_model("relevancy", "Scorer")
    ScorerVersion = apps.get_model("relevancy", "ScorerVersion")
    for name, measure, scale, description in SHIPPED:
        scorer, made = Scorer.objects.get_or_create(
            name=name, defaults={"description": description, "is_default": name == "AvgEdit"}
        )
        if made:
            ScorerVersion.objects.create(scorer=scorer, number=1, measure=measure, scale=scale)


class Migration(migrations.Migration):
    dependencies = [("relevancy", "0001_initial")]
    operations = [migrations.RunPython(add, migrations.RunPython.noop)]
