"""What each feature is worth alone."""

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from scipy.stats import spearmanr

from relevancy.models import Case
from relevancy.optional.features.dataset import read_dataset
from relevancy.optional.features.figures import build_figures, correlate, draw_bars
from relevancy.optional.features.models import FeatureLog
from tests.views.workbench.example_cases import attributes, by_id, elements, tree, words

from .test_files import NAN, make_dataset


def test_figures_by_hand() -> None:
    # Two queries of two documents; f0 orders both as the grades do, f1 both the other way round, f2 has one value.
    dataset = make_dataset([[2.0, 1.0, NAN], [1.0, 2.0, NAN], [2.0, 1.0, 5.0], [1.0, 2.0, NAN]], [3, 0, 3, 0], [2, 2])
    table = build_figures(dataset)
    good, bad, rare = table.rows
    assert good.score == 100
    assert bad.score == pytest.approx(100 / np.log2(3))  # the only good document at rank 2
    assert (good.coverage, rare.coverage) == (100, 25)
    assert (good.low, good.median, good.high) == (1, 1.5, 2)
    assert (rare.low, rare.bars.count(0)) == (5, 11)
    assert table.queries == 2
    assert table.correlations[0][:2] == pytest.approx([1, -1])


def test_tags_for_which_a_feature_helps() -> None:
    values = [[2.0], [1.0]] * 5 + [[1.0], [2.0]] * 5
    dataset = make_dataset(values, [3, 0] * 10, [2] * 10, tags={"brand": range(5), "long": range(5, 10), "few": [0]})
    (row,) = build_figures(dataset).rows
    low = 100 / np.log2(3)
    assert [(tag.tag, tag.queries, tag.score) for tag in row.best] == [("brand", 5, 100)]
    assert [(tag.tag, tag.difference) for tag in row.worst] == [("long", pytest.approx((low - 100) / 2))]


def test_correlations_are_spearmans() -> None:
    generator = np.random.Generator(np.random.PCG64(2))
    values = generator.integers(0, 6, (50, 3)).astype(float)
    values[:, 2] = 4.0
    table = correlate(make_dataset(values.tolist(), [1.0] * 50, [50]))
    assert table[0][1] == pytest.approx(spearmanr(values[:, 0], values[:, 1]).statistic)
    assert table[1][0] == pytest.approx(table[0][1])
    assert table[0][2] is None


def test_bars() -> None:
    assert draw_bars(np.array([])) == []
    assert sum(height > 0 for height in draw_bars(np.array([3.0, 3.0]))) == 1
    heights = draw_bars(np.array([0.0] * 1000 + [12.0]))
    assert (heights[0], heights[-1], sum(heights)) == (100, 1, 101)


@pytest.mark.django_db
def test_page(log: FeatureLog, case: Case) -> None:
    client = Client()
    client.force_login(case.owner)
    assert by_id(tree(client.get(reverse("feature_set", args=[case.pk, 1]))), "figures-link") is not None
    page = tree(client.get(reverse("feature_figures", args=[case.pk, 1])))
    rows = {
        attributes(row)["data-feature"]: attributes(row)
        for row in elements(by_id(page, "feature-figures"), _name="tr")
        if "data-feature" in attributes(row)
    }
    assert rows["votes"]["data-coverage"] == "75"
    score = build_figures(read_dataset(log)).rows[0].score
    assert float(rows["title_score"]["data-score"]) == pytest.approx(score, abs=1e-5)
    assert "1.00" in words(by_id(page, "feature-correlations"))
    FeatureLog.objects.all().delete()
    page = tree(client.get(reverse("feature_figures", args=[case.pk, 1])))
    assert "Nothing has been logged yet." in words(by_id(page, "no-figures"))
