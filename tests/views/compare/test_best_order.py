"""The best order on the comparison page: the switch, its columns, an opened query, ratings, files, and addresses of its former page."""

import json

import pytest
from django.urls import reverse

from relevancy import cases
from relevancy.models import CaseScorer, Rating, ScorerVersion
from tests.comparison.conftest import run_with
from tests.factories import make_case, make_scorer, query_of
from tests.views.workbench.example_cases import attributes, by_id, elements, tree, words

from .test_pages import HTMX, address, entry, figure, open_ready, texts

LISTS = {"query 1": "xab", "query 2": "ab", "query 3": "xyz", "query 4": "ab"}
BEST = {"best": "1", "sort": "-gain"}


@pytest.fixture
def case(people, team, script):
    ratings = {f"query {number}": {"a": 3, "b": 1} for number in (1, 2, 3)}
    case = make_case(4, ratings, owner=people["admin"], measures=("P@1", "nDCG@10"))
    cases.share(case=case, team=team)
    return case


@pytest.fixture
def compared(case):
    """The first run has the fields of `a` for each query. Of the second, query 2 is at its best, query 1 has its documents too far
    down, and query 3 none of them."""
    return [run_with(case, dict.fromkeys(LISTS, "xxab")), run_with(case, LISTS)]


def side(response, name):
    (element,) = elements(tree(response), **{"data-side": name})
    return [words(item) for item in elements(element, _name="li")]


def test_the_switch_says_which_queries_can_gain_most_and_why(sign_in, case, compared):
    query_of(case, "query 3").__class__.objects.filter(book=case.book, text="query 3").update(tags=["far"])
    client = sign_in("viewer")
    page = open_ready(client, case, tab="figures")
    assert figure(page, "gain") == "100.0 → 66.7"
    assert not elements(tree(page), _name="th", title="Points between the score in Run 2 and that of its best order")
    response = client.get(address(case) + attributes(by_id(page, "best-order"))["href"])
    verdict = words(by_id(response, "verdict"))
    assert (
        "With the best order that today’s ratings allow, Run 2 would score 100.0 instead of 33.3: 66.7 points can be gained on 3 "
        "queries." in verdict
    )
    assert "2 queries make up 80 % of that." in verdict
    assert texts(response) == ["query 1", "query 3", "query 2", "query 4"]
    rows = elements(by_id(response, "compared-queries"), _name="tr")[1:3]
    assert [[words(cell) for cell in elements(row, _name="td")][5:8] for row in rows] == [
        ["100.0", "100.0", "0.0"],
        ["100.0", "0.0", "100.0"],
    ]
    tags = client.get(f"{address(case)}{attributes(by_id(response, 'tab-tags'))['href']}")
    (tag,) = elements(tree(tags), **{"data-tag": "far"})
    assert words(tag).endswith("100.0")
    assert texts(client.get(address(case, best="1", sort="gain")))[0] == "query 2"


def test_opened_query_stands_beside_the_best_order_and_says_what_gains(sign_in, case, compared):
    response = open_ready(sign_in("viewer"), case, open=entry(case, "query 3").pk, **BEST)
    assert side(response, "before") == ["1 · x out", "2 · y out", "3 · z out"]
    assert side(response, "after") == ["1 3 a in"]
    assert "Documents that Run 2 did not fetch make up all 100.0 points" in words(by_id(response, "compared-sides"))


def test_a_rating_changes_the_best_order_and_the_verdict(sign_in, case, compared):
    client = sign_in("editor")
    query = entry(case, "query 4").pk
    open_ready(client, case, **BEST)
    url = address(case, "compare_rate", query, **BEST)
    response = client.post(url, {"doc_id": "b", "value": "3"}, headers=HTMX)
    assert response.status_code == 200
    assert side(response, "after") == ["1 3 b ▲1"]
    assert "75.0 points can be gained on 4 queries" in words(by_id(open_ready(client, case, **BEST), "verdict"))
    back = client.post(url, {"doc_id": "b", "value": ""})
    assert (back.status_code, f"open={query}" in back["Location"], "best=1" in back["Location"]) == (302, True, True)
    assert not Rating.objects.filter(query=query_of(case, "query 4")).exists()


def test_a_script_has_no_best_order(sign_in, case, compared):
    script = make_scorer("", "count", script="setScore(1)")
    CaseScorer.objects.create(case=case, scorer=script, version=script.versions.get(), position=9)
    response = open_ready(sign_in("viewer"), case, scorer=script.pk, tab="figures", **BEST)
    assert not elements(tree(response), **{"data-figure": "gain"})
    assert not elements(tree(response), id="best-order")
    assert "No best order" in words(by_id(response, "compared-queries"))


def test_files_have_what_the_page_shows(sign_in, case, compared):
    client = sign_in("viewer")
    open_ready(client, case)
    data = json.loads(client.get(address(case, "compare_json")).content)
    assert [run["gain"] for run in data["runs"]] == pytest.approx([100, 200 / 3])
    assert [run["ideal"] for run in data["runs"]] == pytest.approx([100, 100])
    assert (data["runs"][1]["at_best"], data["runs"][1]["gain_carried_by"]) == (1, ["query 1", "query 3"])
    lines = b"".join(client.get(address(case, "compare_csv", **BEST)).streaming_content).decode().splitlines()
    assert lines[0].endswith(",to gain run 2")
    assert [line.rpartition(",")[2] for line in lines[1:]] == ["100.0", "100.0", "0.0", ""]
    report = client.get(address(case, "compare_report"))
    assert figure(report, "gain").startswith("100.0 → 66.7")


def test_a_former_address_leads_to_the_comparison(sign_in, case, compared):
    client = sign_in("viewer")
    scorer = ScorerVersion.objects.used_by(case)[0].scorer_id
    url = reverse("compare", args=[case.pk], query={"run": ["1", "ideal"], "scorer": scorer})
    page = client.get(url, follow=True)
    assert page.redirect_chain[0][0] == f"{address(case)}?best=1&sort=-gain&run=1&scorer={scorer}"
    page = client.get(url, follow=True)
    assert "Run 1 would score 100.0 instead of 0.0" in words(by_id(page, "verdict"))


def test_a_case_with_one_run_has_its_gaps_on_the_workbench(sign_in, case):
    run_with(case, LISTS)
    client = sign_in("viewer")
    link = attributes(by_id(client.get(address(case)), "largest-gaps"))["href"]
    assert client.get(link).status_code == 200
    assert reverse("case", args=[case.pk]) in link


def test_statements_do_not_grow_with_the_queries(sign_in, people, team, script, django_assert_max_num_queries):
    counts = []
    client = sign_in("viewer")
    for size in (3, 30):
        ratings = {f"query {number}": {"a": 3} for number in range(1, size)}
        case = make_case(size, ratings, owner=people["admin"], measures=("P@1",))
        cases.share(case=case, team=team)
        for answer in ("ab", "ba"):
            run_with(case, {f"query {number}": answer for number in range(1, size + 1)})
        open_ready(client, case, **BEST)
        with django_assert_max_num_queries(30) as captured:
            client.get(address(case, **BEST))
        counts.append(len(captured))
    assert counts[0] == counts[1]
