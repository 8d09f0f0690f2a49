"""The list of a large case: read by key, filtered by windows, sorted by scores; its figures are those of a small one."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils import timezone

from relevancy import queries, runs, scores
from relevancy.models import Case, CaseScore, QueryScore, ScorerVersion
from tests.factories import query_of, run_now

from .example_cases import (
    HTMX,
    LIST,
    at,
    attributes,
    by_id,
    case_query_of,
    elements,
    make_workbench_case,
    shown,
    tree,
    words,
)

COUNT = 11
LARGE = ("models.run", "scores.history", "views.workbench.query_list")
# Scores of very different sizes, some equal; most queries have none.
RATINGS = {f"query {number}": {"a": number % 4, "b": number % 3} for number in (2, 3, 5, 6, 7, 9, 10)}


@pytest.fixture
def case(people, team, script) -> Case:
    case = make_workbench_case(people, team, COUNT, RATINGS)
    run_now(case.attempts.get())
    return case


@pytest.fixture
def as_large(monkeypatch):
    """Makes every case with more than three queries a large one, in pages of three; a filter looks at four queries at a time."""

    def change() -> None:
        for module in LARGE:
            monkeypatch.setattr(f"relevancy.{module}.LARGE_CASE", 3)
        monkeypatch.setattr("relevancy.views.workbench.query_list.PAGE_SIZE", 3)
        monkeypatch.setattr("relevancy.views.workbench.large_list.WINDOW", 4)

    return change


def links(page) -> dict[str, str]:
    """The parameter `page` of the neighbours, by `rel`."""
    found = [attributes(link) for link in elements(tree(page), _name="a")]
    return {link["rel"]: parse_qs(urlsplit(link["href"]).query)["page"][0] for link in found if "rel" in link}


def walk(client, case, parameters, *, page="", rel="next") -> list[list[str]]:
    """The texts of the pages from one to the last, or back to the first."""
    pages = []
    while True:
        answer = client.get(at(case, "case"), {**parameters, "page": page}, headers=LIST)
        pages.append(shown(answer))
        if rel not in links(answer):
            return pages
        page = links(answer)[rel]


def flat(pages: list[list[str]]) -> list[str]:
    return [text for page in pages for text in page]


def test_pages_are_read_by_key_in_both_directions(sign_in, case, as_large):
    client, texts = sign_in("viewer"), [f"query {number}" for number in range(1, COUNT + 1)]
    as_large()
    pages = walk(client, case, {})
    assert pages == [texts[:3], texts[3:6], texts[6:9], texts[9:]]
    last = case_query_of(case, "query 10").pk
    assert walk(client, case, {}, page=f"from-{last}", rel="prev") == [texts[9:], texts[6:9], texts[3:6], texts[:3]]
    # From the middle of a page, the first one is whole again.
    assert walk(client, case, {}, page=f"to-{case_query_of(case, 'query 5').pk}", rel="prev") == [texts[1:4], texts[:3]]
    numbers = [
        words(cell)
        for cell in elements(tree(client.get(at(case, "case", page=f"from-{last}"))), _name="td", cls="position")
    ]
    assert numbers == ["10", "11"]


def test_a_page_names_which_queries_it_shows_and_keeps_its_place_when_the_list_is_fetched_again(
    sign_in, case, as_large
):
    as_large()
    key = f"from-{case_query_of(case, 'query 4').pk}"
    page = sign_in("viewer").get(at(case, "case", page=key))
    assert "4–6 of 11" in words(elements(tree(page), _name="nav", cls="pager")[0])
    assert attributes(by_id(page, "queries"))["hx-get"] == at(case, "case", page=key)
    assert by_id(page, "large-case")


def test_a_removed_query_still_marks_where_a_page_begins(sign_in, case, as_large):
    as_large()
    case_query = case_query_of(case, "query 4")
    queries.remove(case_query=case_query)
    page = sign_in("viewer").get(at(case, "case", page=f"from-{case_query.pk}"))
    assert shown(page) == ["query 5", "query 6", "query 7"]


@pytest.mark.parametrize("page", ["2", "from-0", "to-999999999", "from-", "from-1'"])
def test_an_address_that_names_no_query_shows_the_first_page(sign_in, case, as_large, page):
    as_large()
    assert shown(sign_in("viewer").get(at(case, "case", page=page))) == ["query 1", "query 2", "query 3"]


@pytest.mark.parametrize(
    "parameters", [{"q": "1"}, {"q": "nothing"}, {"state": "unrated"}, {"state": "unscored"}, {"tag": "x"}]
)
def test_a_filter_finds_the_same_queries_window_by_window(sign_in, case, as_large, parameters):
    queries.tags.set_tags(query=query_of(case, "query 9"), tags=["x"])
    client = sign_in("viewer")
    expected = walk(client, case, parameters)
    as_large()
    pages = walk(client, case, parameters)
    assert flat(pages) == flat(expected)
    assert all(len(page) <= 3 for page in pages)
    backwards = walk(client, case, parameters, page=f"to-{case_query_of(case, 'query 11').pk}", rel="prev")
    # The first page is filled up from the beginning.
    assert list(dict.fromkeys(flat(backwards[::-1]))) == [text for text in flat(pages) if text != "query 11"]


def test_a_window_without_a_hit_says_what_it_has_searched(sign_in, case, as_large):
    as_large()
    page = sign_in("viewer").get(at(case, "case", q="query 9"))
    assert "0 found in 1–4 of 11" in words(elements(tree(page), _name="nav", cls="pager")[0])


@pytest.mark.parametrize("key", ["score", "gap", "unrated"])
@pytest.mark.parametrize("sign", ["", "-"])
def test_the_list_is_sorted_by_scores_without_queries_that_have_none(sign_in, case, as_large, key, sign):
    run, version = case.runs.order_by("number").last(), ScorerVersion.objects.used_by(case)[0]
    rows = case.case_queries.present().with_scores(run, version)
    values = {row.query.text: getattr(row, key) for row in rows if row.score is not None}
    client = sign_in("viewer")
    as_large()
    texts = flat(walk(client, case, {"sort": sign + key}))
    assert sorted(texts) == sorted(values)
    assert [values[text] for text in texts] == sorted(values.values(), reverse=bool(sign))
    assert len(texts) > 3
    last = case_query_of(case, texts[-1]).pk
    assert flat(walk(client, case, {"sort": sign + key}, page=f"to-{last}", rel="prev"))[:3] == texts[-4:-1]


def test_what_the_list_cannot_be_sorted_by_has_no_link(sign_in, case, as_large):
    as_large()
    client = sign_in("viewer")
    page = client.get(at(case, "case", sort="query"))
    assert shown(page) == ["query 1", "query 2", "query 3"]
    headings = [words(link) for link in elements(tree(page), _name="a", cls="sort")]
    assert [re.sub(r"\W+$", "", text) for text in headings] == ["Score", "Could gain", "Unrated"]
    filtered = client.get(at(case, "case", q="query", sort="score"))
    assert not elements(tree(filtered), _name="a", cls="sort")


def test_an_opened_query_begins_its_page(sign_in, case, as_large):
    as_large()
    case_query = case_query_of(case, "query 8")
    answer = sign_in("viewer").get(at(case, "query", case_query.pk), follow=True)
    assert shown(answer)[0] == "query 8"
    assert len(elements(tree(answer), _name="tr", cls="query-detail")) == 1


def test_after_a_rating_a_worker_computes_the_figures_and_they_are_those_of_a_small_case(sign_in, case, as_large):
    run, version = case.runs.order_by("number").last(), ScorerVersion.objects.used_by(case)[0]
    as_large()
    client, case_query = sign_in("rater"), case_query_of(case, "query 1")
    rated = client.post(at(case, "rate", case_query.pk, rank=1), {"doc_id": "a", "value": "2"}, headers=HTMX)
    assert rated.status_code == 200
    assert QueryScore.objects.get(run=run, query=case_query.query_id, version=version).score is not None
    assert scores.rescore_case(case, seconds=60)
    pair = run, scores.baseline_of(run)
    (stored,) = scores.stored_differences([pair], version).values()
    row = CaseScore.objects.newest().get(run=run, version=version)
    assert row.queries == COUNT
    page = client.get(at(case, "case"))
    assert f"{stored.compared}" in words(by_id(page, "case-score"))
    assert f"{row.score:.1f}" in words(by_id(page, "case-score"))


def test_sums_of_a_large_case_are_those_of_a_small_one(case, as_large):
    run, version = case.runs.order_by("number").last(), ScorerVersion.objects.used_by(case)[0]
    baseline = scores.baseline_of(run)
    for number, case_query in enumerate(case.case_queries.all()):
        case_query.weight = number / 7
        case_query.save()
    small, (small_score,) = scores.compare_runs(run, baseline, version), scores.score_case(run, [version])
    as_large()
    large, (large_score,) = scores.compare_runs(run, baseline, version), scores.score_case(run, [version])
    assert large == small
    figures = "score", "low", "high", "scored", "queries", "unrated", "failed", "revision"
    assert [getattr(large_score, name) for name in figures] == [getattr(small_score, name) for name in figures]


def test_the_difference_of_a_large_case_is_the_stored_one(sign_in, case, as_large):
    as_large()
    client = sign_in("viewer")
    case.runs.order_by("number").last().comparisons.all().delete()
    assert "being rescored" in words(by_id(client.get(at(case, "case")), "case-score"))
    assert scores.rescore_case(case, seconds=60)
    assert "being rescored" not in words(by_id(client.get(at(case, "case")), "case-score"))


def test_queries_added_after_the_newest_score_are_counted(case, as_large):
    as_large()
    run = case.runs.order_by("number").last()
    assert runs.count_unsearched(run) == {"new": 0, "edited": 0}
    for _ in range(2):  # the second time adds nothing
        queries.add(case=case, texts=["more", "and more"])
        assert scores.count_queries(case) == COUNT + 2
        assert runs.count_unsearched(run) == {"new": 2, "edited": 0}
    scores.score_case(run, ScorerVersion.objects.used_by(case))
    assert scores.count_queries(case) == COUNT + 2


def test_a_case_that_has_become_large_is_counted(case, as_large):
    case.case_queries.filter(query__text__in=["query 1", "query 2"]).update(removed_at=timezone.now())
    CaseScore.objects.filter(run__case=case).update(queries=2)
    as_large()
    assert scores.count_queries(case) == COUNT - 2
