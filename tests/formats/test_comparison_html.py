"""The report of a comparison: complete without a server, and safe whatever the queries are."""

import re
from datetime import UTC, datetime

import pytest

from relevancy import comparison, queries, runs
from relevancy.formats.reports import comparison_charts, comparison_html
from relevancy.models import Endpoint, ScorerVersion
from tests.comparison.conftest import run_with
from tests.factories import make_case, query_of

HOSTILE = '</style><script>alert("1")</script><img src=x onerror=alert(2)>'
COMPUTED_AT = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


def report(compared, version):
    figures = comparison.compute_figures(comparison.compare(runs=compared, version=version))
    return comparison_html.build_report(figures, computed_at=COMPUTED_AT)


@pytest.fixture
def case(script):
    case = make_case([HOSTILE, "query 2", "query 3"], {HOSTILE: {"a": 3}, "query 2": {"a": 3}}, measures=("P@1",))
    case.name = HOSTILE
    case.save()
    return case


@pytest.mark.django_db
@pytest.mark.parametrize("count", [2, 3])
def test_report_is_one_file_without_scripts_and_addresses(case, count):
    queries.tags.set_tags(query=query_of(case, "query 2"), tags='"><script>')
    Endpoint.objects.update(url="http://user:secret@search.example.org/solr")
    compared = [run_with(case, dict.fromkeys((HOSTILE, "query 2"), doc_ids)) for doc_ids in ("xa", "ab", "bx")][:count]
    runs.describe(run=compared[0], name=HOSTILE, note="")
    text = report(compared, ScorerVersion.objects.used_by(case)[0])
    assert re.findall(r"<(?:script|img|iframe|link|a|object|form)\b", text) == []
    assert re.findall(r"(?:https?:)?//", text) == []
    assert re.findall(r"url\(|@import", text) == []
    assert re.findall(r"<[a-z][^>]*\s(?:src|href|action|on\w+)\s*=", text) == []
    assert text.count("</style>") == 1
    assert "secret" not in text and case.owner.email not in text
    assert "default-src &#x27;none&#x27;" in text or "default-src 'none'" in text
    assert "&lt;script&gt;alert(&quot;1&quot;)" in text
    table = text[text.index('id="queries"') :]
    assert table.count("<tr>") == 1 + 3
    assert "P@1, version" in text and "22 November 2026" in text
    assert text.count('class="report-pair"') == count - 1


@pytest.mark.django_db
def test_report_without_a_scored_query(case):
    compared = [run_with(case, {"query 3": doc_ids}) for doc_ids in ("ab", "ba")]
    case.case_queries.exclude(query__text="query 3").update(removed_at=COMPUTED_AT)
    text = report(compared, ScorerVersion.objects.used_by(case)[0])
    assert "cannot be compared: none of their queries is scored in both" in " ".join(text.split())
    assert "1 the same in another order" in text


def row(number, score_a, score_b, took=5):
    return comparison.QueryRow(
        number, f"query {number}", 1.0, score_a, score_b, score_b - score_a, 0.5, 0.5, 2, 0, 0, took, took
    )


def test_charts_draw_each_query_of_a_few():
    charts = {
        chart.key: chart
        for chart in comparison_charts.build_svg_charts([row(1, 0, 50), row(2, 60, 40), row(3, 5, 5)], "A", "B")
    }
    gains, losses = charts["differences"].shapes
    assert (gains.path.count("M"), losses.path.count("M")) == (1, 1)
    assert gains.path == "M0 0h170v100h-170z"  # the largest difference has the whole height above zero
    (points,) = charts["scatter"].shapes
    assert points.path == "M0 100h0M360 120h0M30 190h0"
    assert charts["scores"].table[0] == ("0–10", "2", "1")
    assert charts["times"].table == [("5–10", "3", "3")]


def test_charts_of_many_queries_stay_small():
    rows = [row(number, number % 100, (7 * number) % 100) for number in range(20_000)]
    charts = {chart.key: chart for chart in comparison_charts.build_svg_charts(rows, "A", "B")}
    bars = charts["differences"].shapes
    assert sum(shape.path.count("M") for shape in bars) <= comparison_charts.MAX_BARS
    cells = charts["scatter"].shapes
    assert {shape.opacity for shape in cells} <= {0.25, 0.5, 0.75, 1}
    assert 0 < sum(shape.path.count("M") for shape in cells) <= comparison_charts.CELLS**2
    assert sum(len(shape.path) for chart in charts.values() for shape in chart.shapes) < 200_000


def test_charts_of_nothing():
    assert comparison_charts.build_svg_charts([], "A", "B") == []
