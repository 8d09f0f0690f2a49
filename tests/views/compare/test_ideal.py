"""The comparison of a run with the best order: the page, an opened query, ratings, files."""

import json

import pytest
from django.urls import reverse

from relevancy import cases, comparison, tasks
from relevancy.formats.reports import ideal_json
from relevancy.models import Case, CaseScorer, Query, Rating, ScorerVersion
from tests.comparison.conftest import run_with
from tests.factories import make_case, make_scorer, query_of
from tests.views.workbench.example_cases import attributes, by_id, elements, tree, words

HTMX = {"HX-Request": "true"}
LISTS = {"query 1": "xab", "query 2": "ab", "query 3": "xyz", "query 4": "ab"}


@pytest.fixture
def case(people, team, script):
    ratings = {f"query {number}": {"a": 3, "b": 1} for number in (1, 2, 3)}
    case = make_case(4, ratings, owner=people["admin"], measures=("P@1", "nDCG@10"))
    cases.share(case=case, team=team)
    return case


@pytest.fixture
def run(case):
    return run_with(case, LISTS)


def address(case, name="compare", *args, **query):
    return reverse(name, args=[case.pk, *args], query={"run": ["1", "ideal"], **query})


def texts(response):
    return [attributes(link)["title"] for link in elements(tree(response), **{"_name": "a", "data-open-query": ""})]


def figure(response, key):
    (element,) = elements(tree(response), **{"data-figure": key})
    return words(elements(element, _name="dd")[0])


def side(response, name):
    (element,) = elements(tree(response), **{"data-side": name})
    return [words(item) for item in elements(element, _name="li")]


def test_page_says_which_queries_can_gain_most_and_why(sign_in, case, run):
    Query.objects.filter(book=case.book, text="query 3").update(tags=["far"])
    response = sign_in("viewer").get(address(case))
    assert words(by_id(response, "verdict-sentence")) == (
        "With the best order that today’s ratings allow, Run 1 would score 100.0 instead of 33.3: 66.7 points can be gained on "
        "3 queries."
    )
    assert "There is no p and no interval" in words(by_id(response, "verdict"))
    assert not elements(tree(response), **{"data-figure": "p"})
    assert (figure(response, "counts"), figure(response, "left_out")) == ("2 · 1", "1")
    assert texts(response) == ["query 1", "query 3", "query 2", "query 4"]
    rows = elements(by_id(response, "compared-queries"), _name="tr")[1:3]
    assert [[words(cell) for cell in elements(row, _name="td")][3:6] for row in rows] == [
        ["100.0", "100.0", "0.0"],
        ["100.0", "0.0", "100.0"],
    ]
    (tag,) = elements(tree(response), **{"data-tag": "far"})
    assert words(tag).endswith("100.0 50 %")


def test_the_best_order_is_offered_beside_the_runs(sign_in, case, run):
    client = sign_in("viewer")
    alone = client.get(reverse("compare", args=[case.pk]))
    assert attributes(by_id(alone, "compare-ideal"))["href"] == f"{reverse('compare', args=[case.pk])}?run=ideal"
    run_with(case, LISTS)
    response = client.get(reverse("compare", args=[case.pk]))
    options = [attributes(option)["value"] for option in elements(by_id(response, "run-2"), _name="option")]
    assert options[0] == "ideal"
    chosen = client.get(address(case, scorer=""))
    (selected,) = elements(by_id(chosen, "run-2"), selected="")
    assert attributes(selected)["value"] == "ideal"


def test_opened_query_stands_beside_the_best_order_and_says_what_gains(sign_in, case, run):
    run_with(case, {**LISTS, "query 3": "axb"})  # knows the displayed fields of `a`
    client = sign_in("viewer")
    case_query = case.case_queries.get(query__text="query 3")
    response = client.get(address(case, open=case_query.pk))
    assert side(response, "before") == ["1 · x out", "2 · y out", "3 · z out"]
    assert side(response, "after") == ["1 3 a in"]
    assert "Documents that Run 1 did not fetch make up all 100.0 points" in words(by_id(response, "compared-sides"))


def test_a_rating_changes_the_best_order_and_the_verdict(sign_in, case, run):
    client = sign_in("rater")
    case_query = case.case_queries.get(query__text="query 4")
    url = address(case, "compare_rate", case_query.pk, scorer=ScorerVersion.objects.used_by(case)[0].scorer_id)
    response = client.post(url, {"doc_id": "b", "value": "3"}, headers=HTMX)
    assert response.status_code == 200
    assert Rating.objects.filter(query=query_of(case, "query 4"), doc_id="b").exists()
    assert "75.0 points can be gained on 4 queries" in words(by_id(response, "verdict-sentence"))
    assert side(response, "after") == ["1 3 b ▲1"]
    back = client.post(url, {"doc_id": "b", "value": ""})
    assert (back.status_code, f"open={case_query.pk}" in back["Location"]) == (302, True)
    assert not Rating.objects.filter(query=query_of(case, "query 4")).exists()


def test_a_rating_below_the_scale_is_refused(sign_in, case, run):
    case_query = case.case_queries.get(query__text="query 4")
    response = sign_in("rater").post(
        address(case, "compare_rate", case_query.pk), {"doc_id": "b", "value": "17"}, headers=HTMX
    )
    assert response.status_code == 409
    assert not Rating.objects.filter(query=query_of(case, "query 4")).exists()


def test_stale_scores_are_computed_by_the_worker_and_the_page_waits(sign_in, case, run, monkeypatch):
    queued = []
    monkeypatch.setattr(tasks, "send", lambda task, pk, **_: queued.append((task.name, pk)))
    run.query_scores.update(revision=0)
    client = sign_in("viewer")
    response = client.get(address(case))
    assert queued == [("rescore_run", run.pk)]
    verdict = attributes(by_id(response, "verdict"))
    assert verdict["hx-get"].startswith(reverse("compare_state", args=[case.pk]))
    assert texts(response) == []
    assert client.get(address(case, "compare_csv")).status_code == 302
    tasks.rescore_run.func(run.pk)
    polled = client.get(verdict["hx-get"], headers=HTMX)
    assert polled["HX-Trigger-After-Settle"] == "comparison-ready"


@pytest.mark.parametrize(
    "runs, message",
    [
        (["1", "2", "ideal"], "The best order is compared with one run"),
        (["9", "ideal"], "Run 9 does not exist in this case"),
    ],
)
def test_addresses_that_cannot_be_compared(sign_in, case, run, runs, message):
    run_with(case, LISTS)
    response = sign_in("viewer").get(reverse("compare", args=[case.pk], query={"run": runs}))
    assert message in response.content.decode()


def test_a_script_has_no_best_order(sign_in, case, run):
    script = make_scorer("", "count", script="setScore(1)")
    CaseScorer.objects.create(case=case, scorer=script, version=script.versions.get(), position=9)
    response = sign_in("viewer").get(address(case, scorer=script.pk))
    assert "is a script, so its best order is not known" in response.content.decode()


def test_files_have_what_the_page_shows(sign_in, case, run):
    client = sign_in("viewer")
    version = ScorerVersion.objects.used_by(case)[0]
    exported = json.loads(client.get(address(case, "compare_json")).content)
    assert exported == json.loads(json.dumps(ideal_json.build_ideal(comparison.compare_with_ideal(run, version))))
    assert [item["query"] for item in exported["query_gains"]] == ["query 1", "query 3"]
    lines = b"".join(client.get(address(case, "compare_csv", state="better")).streaming_content).decode().splitlines()
    assert lines[0] == "query,run 1,best,to gain,by order,by documents,weight,unrated"
    assert lines[1:] == ["query 1,0.0,100.0,100.0,100.0,0.0,1.0,1", "query 3,0.0,100.0,100.0,0.0,100.0,1.0,1"]
    report = client.get(address(case, "compare_report")).content.decode()
    assert "66.7 points can be gained on 3 queries" in report
    assert "<script" not in report


def test_statements_do_not_grow_with_the_queries(sign_in, people, team, script, django_assert_max_num_queries):
    counts = []
    for size in (3, 30):
        case: Case = make_case(
            size, {f"query {n}": {"a": 3} for n in range(1, size)}, owner=people["admin"], measures=("P@1",)
        )
        cases.share(case=case, team=team)
        run_with(case, {f"query {n}": "ba" for n in range(1, size + 1)})
        client = sign_in("viewer")
        client.get(address(case))
        with django_assert_max_num_queries(40) as captured:
            client.get(address(case))
        counts.append(len(captured))
    assert counts[0] == counts[1]
