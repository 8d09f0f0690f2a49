"""Comparisons of runs of large cases: figures over all queries, the same as those of small ones."""

import json

import pytest
from django.core.exceptions import ValidationError

from relevancy import cases, comparison, queries
from relevancy.models import ScorerVersion
from tests.factories import make_case
from tests.views.compare.test_pages import address, open_ready
from tests.views.workbench.example_cases import attributes, by_id, elements, tree, words

from .conftest import run_with

LISTS = {f"query {number}": "xab" if number % 3 else "ba" for number in range(1, 26)}


@pytest.fixture
def case(people, team, script):
    ratings = {f"query {number}": {"a": 3, "b": 1} for number in range(1, 25)}
    case = make_case(25, ratings, owner=people["admin"], measures=("P@1", "nDCG@10"))
    cases.share(case=case, team=team)
    return case


@pytest.fixture
def compared(case):
    return [run_with(case, LISTS), run_with(case, dict.fromkeys(LISTS, "ab"))]


@pytest.fixture
def as_large(monkeypatch):
    for module in ("models.run", "comparison.large_figures"):
        monkeypatch.setattr(f"relevancy.{module}.LARGE_CASE", 3)


def test_figures_are_those_of_a_small_comparison(case, compared):
    version = ScorerVersion.objects.used_by(case)[0]
    result = comparison.compare(runs=compared, version=version)
    large, (pair,) = comparison.build_large(result), result.pairs
    (kept,) = large.pairs
    assert (kept.difference, kept.p, kept.interval) == (pair.difference, pair.paired.p, pair.paired.interval)
    assert (kept.wins, kept.ties, kept.losses) == (pair.by_query.wins, pair.by_query.ties, pair.by_query.losses)
    assert kept.sentence == comparison.describe_verdict(pair)
    assert sum(kept.differences) + kept.ties == large.queries == len(result.table)
    assert (sum(kept.differences[20:]), sum(kept.differences[:20])) == (kept.wins, kept.losses)
    assert [sum(counts) for counts in large.scores] == [large.queries] * 2
    assert large.left_out == len(result.table.left_out) > 0
    ranked = sorted(zip(pair.by_query.values, range(len(result.table)), result.table.query_ids, strict=True))
    assert kept.largest_losses == [query_id for value, _, query_id in ranked if value <= -comparison.TIE]
    assert kept.largest_gains == [
        query_id for value, _, query_id in sorted(ranked, key=lambda row: -row[0]) if value >= comparison.TIE
    ]
    assert (len(kept.largest_losses), len(kept.largest_gains)) == (kept.losses, kept.wins)
    assert large.means == result.means


def test_stored_figures_are_read_as_they_were_computed(case, compared, as_large):
    version = ScorerVersion.objects.used_by(case)[0]
    stored = comparison.stored.find_or_create(runs=compared, version=version)
    comparison.stored.compute(stored.pk)
    stored = comparison.stored.find_or_create(runs=compared, version=version)
    assert stored.is_current
    expected = comparison.build_large(comparison.compare(runs=compared, version=version))
    assert comparison.stored.find_large(stored) == expected
    assert len(json.dumps(stored.figures)) < 5_000
    pair = comparison.stored.load_first_pairs([stored.pk])[stored.pk]
    assert (pair.difference, pair.p) == pytest.approx((expected.pairs[0].difference, expected.pairs[0].p))
    with pytest.raises(ValidationError, match="only figures over all queries"):
        comparison.stored.load(stored, compared)


def test_no_more_queries_are_ranked_than_somebody_reads(case, compared, monkeypatch):
    version = ScorerVersion.objects.used_by(case)[0]
    result = comparison.compare(runs=compared, version=version)
    every = comparison.build_large(result).pairs[0]
    monkeypatch.setattr("relevancy.comparison.large_figures.MAX_RANKED", 2)
    kept = comparison.build_large(result).pairs[0]
    assert kept.largest_gains == every.largest_gains[:2]
    assert len(every.largest_gains) > 2


def test_page_shows_the_figures_and_leads_to_its_lists(sign_in, case, compared, as_large):
    page = open_ready(sign_in("viewer"), case)
    large = comparison.stored.find_large(case.comparisons.get())
    assert words(by_id(page, "verdict-sentence")) == large.pairs[0].sentence
    for state, parameters in {"better": "&sort=-difference", "worse": "", "the same": "&state=same&sort=query"}.items():
        (figure,) = elements(tree(page), **{"data-figure": state})
        (link,) = elements(figure, _name="a")
        assert attributes(link)["href"].endswith(f"/compare/?run=1&run=2&scorer={large_scorer(case)}{parameters}")
    charts = by_id(page, "compared-charts")
    assert [attributes(chart)["id"] for chart in elements(charts, cls="chart-area")] == [
        "chart-differences",
        "chart-scores",
    ]


def large_scorer(case) -> int:
    return ScorerVersion.objects.used_by(case)[0].scorer_id


def test_page_says_which_tags_gain(sign_in, case, compared, as_large):
    queries.tags.add(book=case.book, queries=case.case_queries.values_list("query_id", flat=True), tags="all")
    page = open_ready(sign_in("viewer"), case)
    (figures,) = comparison.stored.find_large(case.comparisons.get()).tags
    assert figures.is_shown
    assert words(by_id(page, "tag-sentence")).startswith(comparison.describe_tags([figures]))


def test_state_loads_the_page_again_once_the_figures_are_there(sign_in, case, compared, as_large):
    client = sign_in("viewer")
    open_ready(client, case)
    assert client.get(address(case, "compare_state")).headers["HX-Refresh"] == "true"


@pytest.mark.parametrize("name", ["compare_json", "compare_report"])
def test_files_are_refused_with_the_reason(sign_in, case, compared, as_large, name):
    client = sign_in("viewer")
    open_ready(client, case)
    answer = client.get(address(case, name), headers={"HX-Request": "true"})
    assert answer.status_code == 409
    assert "only figures over all queries" in str(answer.headers) + answer.content.decode()
