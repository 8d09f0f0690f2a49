"""The list of queries of a comparison of large runs: the largest losses and gains, and all queries, read by key."""

import csv
from urllib.parse import parse_qs, urlsplit

import pytest

from relevancy import cases, queries
from relevancy.models import ScorerVersion
from tests.comparison.conftest import run_with
from tests.factories import make_case, query_of
from tests.views.workbench.example_cases import attributes, by_id, elements, tree, words

from .test_pages import address, open_ready, texts

HTMX = {"HX-Request": "true", "HX-Target": "compared-queries"}
# Query 1 loses most, query 12 gains most; those above 12 have no ratings.
BEFORE = {f"query {number}": "a" + "x" * (number > 6) for number in range(1, 16)}
BEFORE |= {f"query {number}": "x" * (number - 6) + "a" for number in range(7, 13)}
AFTER = {f"query {number}": "x" * (7 - number) + "a" for number in range(1, 7)}
AFTER |= dict.fromkeys((f"query {number}" for number in range(7, 16)), "a")


@pytest.fixture
def case(people, team, script):
    ratings = {f"query {number}": {"a": 3} for number in range(1, 13)}
    case = make_case(15, ratings, owner=people["admin"], measures=("RR@10",))
    cases.share(case=case, team=team)
    return case


@pytest.fixture
def compared(case):
    lists = [{text: numbered(documents) for text, documents in run.items()} for run in (BEFORE, AFTER)]
    return [run_with(case, listed) for listed in lists]


def numbered(documents: str) -> list[str]:
    """Different documents before the rated one."""
    return [f"x{number}" if doc_id == "x" else doc_id for number, doc_id in enumerate(documents)]


@pytest.fixture
def as_large(monkeypatch):
    for module in ("models.run", "comparison.large_figures", "scores.history"):
        monkeypatch.setattr(f"relevancy.{module}.LARGE_CASE", 3)
    monkeypatch.setattr("relevancy.views.compare.large_table.PAGE_SIZE", 4)
    monkeypatch.setattr("relevancy.views.workbench.large_list.WINDOW", 6)
    monkeypatch.setattr("relevancy.views.compare.large_table.PART", 4)


def walk(client, case, **parameters) -> list[list[str]]:
    """The texts of all pages of the list."""
    pages, number = [], ""
    while True:
        page = client.get(address(case, **parameters, page=number), headers=HTMX)
        pages.append(texts(page))
        following = [attributes(link) for link in elements(tree(page), _name="a", rel="next")]
        if not following:
            return pages
        number = parse_qs(urlsplit(following[0]["href"]).query)["page"][0]


def test_the_largest_losses_come_first_and_the_largest_gains_are_the_other_order(sign_in, case, compared, as_large):
    client = sign_in("viewer")
    page = open_ready(client, case)
    assert texts(page) == ["query 1", "query 2", "query 3", "query 4"]
    assert "6 that lost" in words(by_id(page, "compared-queries"))
    assert walk(client, case) == [["query 1", "query 2", "query 3", "query 4"], ["query 5", "query 6"]]
    gains = [text for texts_of_page in walk(client, case, sort="-difference") for text in texts_of_page]
    assert gains == [f"query {number}" for number in range(12, 6, -1)]
    assert walk(client, case, state="worse") == walk(client, case)


def test_all_queries_are_listed_in_the_order_of_the_case(sign_in, case, compared, as_large):
    client = sign_in("viewer")
    open_ready(client, case)
    pages = walk(client, case, sort="query")
    assert pages == [[f"query {number}" for number in range(first, min(first + 4, 16))] for first in (1, 5, 9, 13)]


def test_rows_have_both_scores_and_their_difference(sign_in, case, compared, as_large):
    client = sign_in("viewer")
    page = open_ready(client, case, sort="query")
    version = ScorerVersion.objects.used_by(case)[0]
    stored = case.case_queries.present().with_scores(compared[1], version, compared[0]).order_by("position")
    for row in stored[:4]:
        cells = [words(cell) for cell in elements(by_id(page, f"compared-{row.pk}"), _name="td")]
        assert cells[1:3] == [f"{row.score_before:.1f}", f"{row.score:.1f}"]
        assert cells[4].lstrip("+−-") == f"{abs(row.difference):.1f}"


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"q": "query 1"}, [1, 10, 11, 12, 13, 14, 15]),
        ({"state": "better"}, range(7, 13)),
        ({"state": "left_out"}, [13, 14, 15]),
        ({"state": "better", "sort": "query", "q": "query 1"}, [10, 11, 12]),
        ({"tag": "x"}, [3, 9]),
        ({"min": "60"}, [1, 2, 3, 4, 5, 8, 9, 10, 11, 12]),
        ({"state": "worse", "min": "60", "sort": "query"}, [1, 2, 3, 4, 5]),
    ],
)
def test_a_filter_looks_through_all_queries(sign_in, case, compared, as_large, parameters, expected):
    for text in ("query 3", "query 9"):
        queries.tags.set_tags(query=query_of(case, text), tags=["x"])
    client = sign_in("viewer")
    open_ready(client, case)
    found = [text for page in walk(client, case, **parameters) for text in page]
    assert sorted(found) == sorted(f"query {number}" for number in expected)


@pytest.mark.parametrize("sort", ["a", "-a", "b", "-b", "unrated"])
def test_the_list_is_sorted_by_the_columns_of_scores(sign_in, case, compared, as_large, sort):
    client = sign_in("viewer")
    open_ready(client, case)
    version = ScorerVersion.objects.used_by(case)[0]
    rows = case.case_queries.present().with_scores(compared[1], version, compared[0])
    name = {"a": "score_before", "b": "score", "unrated": "unrated"}[sort.removeprefix("-")]
    values = {row.query.text: vars(row)[name] for row in rows if vars(row)["score"] is not None}
    found = [text for page in walk(client, case, sort=sort) for text in page]
    assert [values[text] for text in found] == sorted(values.values(), reverse=sort.startswith("-"))


def test_a_query_is_opened_beside_the_list(sign_in, case, compared, as_large):
    client = sign_in("viewer")
    page = open_ready(client, case)
    first = case.case_queries.get(query__text="query 1")
    opened = open_ready(client, case, open=first.pk)
    assert attributes(by_id(opened, "compared-query"))["data-entry"] == str(first.pk)
    assert attributes(by_id(opened, f"compared-{first.pk}"))["aria-selected"] == "true"
    assert "data-entry" not in attributes(by_id(page, "compared-query"))


def test_nothing_is_listed_as_long_as_it_is_being_computed(sign_in, case, compared, as_large, monkeypatch):
    monkeypatch.setattr("relevancy.tasks.send", lambda *_, **__: None)
    client = sign_in("viewer")
    assert texts(client.get(address(case))) == []
    assert texts(client.get(address(case, sort="query"))) == []


def test_the_file_has_all_queries_in_the_order_of_the_case(sign_in, case, compared, as_large):
    client = sign_in("viewer")
    open_ready(client, case)
    answer = client.get(address(case, "compare_csv"))
    rows = list(csv.DictReader(b"".join(answer).decode().splitlines()))
    assert [row["query"] for row in rows] == [f"query {number}" for number in range(1, 16)]
    assert (rows[0]["run 1"], rows[0]["difference"][0], rows[14]["difference"]) == ("100.0", "-", "")
    filtered = client.get(address(case, "compare_csv", q="query 12"))
    assert [row["query"] for row in csv.DictReader(b"".join(filtered).decode().splitlines())] == ["query 12"]
