"""The comparison page: which runs, the verdict, the list, an opened query."""

import json
import re

import pytest
from django.urls import reverse

from relevancy import cases, comparison, queries, ratings, runs, tasks
from relevancy.formats.reports import comparison_json
from relevancy.models import Case, Query, Ranking, Run, ScorerVersion, StoredComparison
from relevancy.templatetags import numbers
from tests.comparison.conftest import run_with
from tests.factories import make_case, query_of, remap, set_hits
from tests.views.workbench.example_cases import attributes, by_id, elements, tree, words

HTMX = {"HX-Request": "true"}
LISTS = {"query 1": "xab", "query 2": "ab", "query 3": "xya", "query 4": "ab"}


@pytest.fixture
def case(people, team, script):
    ratings = {f"query {number}": {"a": 3, "b": 1} for number in (1, 2, 3)}
    case = make_case(4, ratings, owner=people["admin"], measures=("P@1", "nDCG@10"))
    cases.share(case=case, team=team)
    return case


@pytest.fixture
def compared(case):
    return [run_with(case, LISTS), run_with(case, dict.fromkeys(LISTS, "ab"))]


def address(case, name="compare", *args, **query):
    return reverse(name, args=[case.pk, *args], query=query or None)


def open_ready(client, case, **query):
    """The page once the figures have been computed: the tests' worker works at once."""
    client.get(address(case, **query))
    return client.get(address(case, **query))


def texts(response):
    return [attributes(link)["title"] for link in elements(tree(response), **{"_name": "a", "data-open-query": ""})]


def figure(response, key):
    """The value of a figure below the verdict, or of the tab with all figures if that is open."""
    *_, element = elements(tree(response), **{"data-figure": key})
    return words(elements(element, _name="dd")[0])


# --- computing ---


def test_page_says_that_figures_are_being_computed_and_enqueues_once(sign_in, case, compared, monkeypatch):
    queued = []
    monkeypatch.setattr(tasks, "send", lambda task, pk, **_: queued.append((task.name, pk)))
    client = sign_in("viewer")
    response = client.get(address(case))
    client.get(address(case))
    stored = StoredComparison.objects.get()
    assert queued == [("compute_comparison", stored.pk)]
    verdict = attributes(by_id(response, "verdict"))
    assert verdict["hx-get"].startswith(address(case, "compare_state"))
    assert texts(response) == []
    assert "0 of 0" not in words(by_id(response, "compared-queries"))
    polled = client.get(verdict["hx-get"], headers=HTMX)
    assert "data-pending" in attributes(by_id(polled, "verdict"))
    assert "HX-Trigger-After-Settle" not in polled
    comparison.stored.compute(stored.pk)
    polled = client.get(verdict["hx-get"], headers=HTMX)
    assert "data-pending" not in attributes(by_id(polled, "verdict"))
    assert polled["HX-Trigger-After-Settle"] == "comparison-ready"


def test_no_scoring_in_a_web_thread(sign_in, case, compared, monkeypatch):
    monkeypatch.setattr(tasks, "send", lambda task, pk, **_: None)
    monkeypatch.setattr("relevancy.scores.rescore_run", lambda *args, **kwargs: pytest.fail("rescored"))
    assert sign_in("viewer").get(address(case)).status_code == 200


def test_failure_is_a_sentence_with_a_way_to_try_again(sign_in, case, compared, monkeypatch):
    monkeypatch.setattr(comparison.stored, "compare", lambda **arguments: 1 / 0)
    client = sign_in("viewer")
    client.get(address(case))
    polled = client.get(address(case, "compare_state"), headers=HTMX)
    assert "unexpected error" in polled.content.decode()
    assert "data-pending" not in attributes(by_id(polled, "verdict"))
    monkeypatch.undo()
    assert "unexpected error" not in open_ready(client, case).content.decode()


# --- verdict ---


def test_verdict_is_that_of_the_command(sign_in, case, compared):
    response = open_ready(sign_in("viewer"), case, tab="figures")
    result = comparison.compare(runs=compared, version=ScorerVersion.objects.used_by(case)[0])
    assert words(by_id(response, "verdict-sentence")) == comparison.describe_verdict(result.pairs[0])
    keys = [
        attributes(item)["data-figure"]
        for item in elements(by_id(response, "verdict"), _name="div")
        if "data-figure" in attributes(item)
    ]
    assert keys == ["interval", "p", "counts", "coverage"]
    assert words(by_id(response, "difference")) == "+66.7"
    assert figure(response, "counts") == "2 · 1 · 0"
    assert figure(response, "p") == "p = .500"
    assert figure(response, "not-compared") == "1"
    assert figure(response, "changed") == "2 of 4"
    assert figure(response, "carriers") == "2 queries"


def test_defaults_are_the_last_complete_run_and_the_one_before(sign_in, case, compared):
    newest = run_with(case, {"query 1": "b"})
    client = sign_in("viewer")
    for query, expected in (
        ({}, ["2", "3"]),
        ({"run": newest.number}, ["2", "3"]),
        ({"run": 2}, ["1", "2"]),
        ({"run": 1}, ["2", "1"]),
    ):
        selects = elements(tree(client.get(address(case, **query))), _name="select", name="run")
        chosen = [
            attributes(option)["value"]
            for select in selects
            for option in elements(select, _name="option")
            if "selected" in attributes(option)
        ]
        assert chosen == expected


def test_link_names_runs_and_scorer(sign_in, case, compared):
    scorer = case.case_scorers.get(scorer__name="nDCG@10").scorer
    url = f"{address(case)}?run=2&run=1&scorer={scorer.pk}"
    client = sign_in("viewer")
    client.get(url)
    response = client.get(url)
    assert "whether Run 1 is better than Run 2" in words(by_id(response, "verdict-sentence"))
    stored = StoredComparison.objects.get()
    assert stored.version.scorer == scorer
    assert [item.run.number for item in stored.compared_runs.all()] == [2, 1]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("run=1&run=1", "cannot be compared with itself"),
        ("run=1&run=99", "Run 99 does not exist in this case"),
        ("run=1&run=x", "Run x does not exist in this case"),
        ("run=1&run=2&run=1", "cannot be compared with itself"),
        ("run=1&run=2&run=1&run=2&run=1&run=2", "6 runs cannot be compared. Choose two to 5"),
        ("run=1&run=2&scorer=999", "This scorer does not belong to the case"),
    ],
)
def test_addresses_that_name_nothing_to_compare(sign_in, case, compared, query, message):
    response = sign_in("viewer").get(f"{address(case)}?{query}")
    assert response.status_code == 200
    (notice,) = elements(tree(response), **{"data-notice": "cannot-compare"})
    assert message in words(notice)
    assert not StoredComparison.objects.exists()


def test_a_run_that_is_not_finished_cannot_be_chosen(sign_in, case, compared):
    Run.objects.filter(pk=compared[1].pk).update(status=Run.Status.RUNNING)
    response = sign_in("viewer").get(f"{address(case)}?run=1&run=2")
    assert "There is no second run to compare with yet" in words(by_id(response, "no-runs"))


def test_a_case_without_runs_says_what_to_do(sign_in, case):
    response = sign_in("viewer").get(address(case))
    assert "There are no two runs to compare yet" in response.content.decode()


def test_without_ratings_the_changes_are_shown(sign_in, people, team, script):
    case = make_case(2, owner=people["admin"], measures=("P@1",))
    cases.share(case=case, team=team)
    run_with(case, {"query 1": "ab", "query 2": "ab"})
    run_with(case, {"query 1": "ba", "query 2": "ax"})
    response = open_ready(sign_in("viewer"), case)
    assert "none of their queries is scored in both" in words(by_id(response, "verdict-sentence"))
    verdict = by_id(response, "verdict")
    assert "Next: 2 result lists changed. Without ratings nobody knows for better or worse. look at them" in words(
        verdict
    )
    assert not elements(verdict, _name="dl") and "–" not in words(verdict)
    opened = open_ready(sign_in("viewer"), case, tab="figures")
    assert "Of 2 queries, 1 returned other documents among the first 10, and 1 the same in another order." in words(
        by_id(opened, "compared-figures")
    )
    assert "–" not in words(by_id(opened, "compared-figures"))
    rate = attributes(by_id(open_ready(sign_in("rater"), case), "next-changed"))["href"]
    assert attributes(by_id(sign_in("rater").get(rate), "compared-query"))["data-entry"]
    assert texts(open_ready(sign_in("viewer"), case, state="reordered")) == ["query 1"]


def test_warns_of_a_scorer_that_looks_deeper_and_of_different_coverage(sign_in, people, team, script):
    ratings = {f"query {number}": {"a": 3} for number in (1, 2)}
    case = make_case(2, ratings, owner=people["admin"], measures=("P@3",))
    cases.share(case=case, team=team)
    first = run_with(case, {"query 1": "a", "query 2": "a"})
    run_with(case, {"query 1": "axy", "query 2": "axy"})
    Run.objects.filter(pk=first.pk).update(rows=2)
    page = words(by_id(open_ready(sign_in("viewer"), case), "verdict"))
    assert "considers 3 results, but Run 1" in page
    assert "100 % are rated in Run 1 and 33 % in Run 2" in page


def test_attempts_tried_correct_p(sign_in, case, compared):
    client = sign_in("viewer")
    open_ready(client, case)
    for _ in range(2):
        newest = run_with(case, dict.fromkeys(LISTS, "ab"))
        response = open_ready(client, case, run=[1, newest.number])
    page = words(by_id(response, "verdict"))
    assert "3 attempts have been compared with Run 1: corrected for that, p = 1.000." in page


# --- the list ---


def test_list_is_sorted_and_filtered(sign_in, case, compared):
    client = sign_in("viewer")
    assert texts(open_ready(client, case)) == ["query 2", "query 1", "query 3", "query 4"]
    assert texts(client.get(address(case, sort="-difference"))) == ["query 1", "query 3", "query 2", "query 4"]
    assert texts(client.get(address(case, sort="-query"))) == ["query 4", "query 3", "query 2", "query 1"]
    assert texts(client.get(address(case, state="worse"))) == []
    assert texts(client.get(address(case, state="better", q="3"))) == ["query 3"]
    assert texts(client.get(address(case, min="99"))) == ["query 1", "query 3"]
    assert texts(client.get(address(case, min="100"))) == []
    assert texts(client.get(address(case, state="changed"))) == ["query 1", "query 3"]
    assert texts(client.get(address(case, state="left_out"))) == ["query 4"]
    assert texts(client.get(address(case, state="?", sort="?", min="nan", page="x"))) != []


def test_list_filters_by_tag(sign_in, case, compared):
    Query.objects.filter(text="query 2").update(tags=["short"])
    client = sign_in("viewer")
    assert texts(open_ready(client, case, tag="short")) == ["query 2"]


def test_list_shows_the_queries_that_were_selected_in_a_chart(sign_in, case, compared):
    client = sign_in("viewer")
    picked = "-".join(str(entry(case, text).pk) for text in ("query 3", "query 2"))
    response = open_ready(client, case, only=f"{picked}-x-0-{2**70}")
    assert texts(response) == ["query 2", "query 3"]
    chip = by_id(response, "picked-queries")
    assert words(chip).startswith("2 queries selected in a chart")
    assert "only=" not in attributes(chip)["href"]
    assert texts(client.get(address(case) + attributes(chip)["href"])) == ["query 2", "query 1", "query 3", "query 4"]
    assert texts(client.get(address(case, only=picked, state="better"))) == ["query 3"]
    sorted_urls = [attributes(link)["href"] for link in elements(by_id(response, "compared-queries"), _name="a")]
    assert all(f"only={picked}" in url for url in sorted_urls if "sort=" in url)
    assert attributes(elements(tree(response), _name="input", name="only")[0])["value"] == picked
    lines = b"".join(client.get(address(case, "compare_csv", only=picked)).streaming_content).decode().splitlines()
    assert len(lines) == 3
    many = "-".join(map(str, range(1, 5_000)))
    assert client.get(address(case, only=many)).status_code == 200


def test_list_alone_for_htmx(sign_in, case, compared):
    client = sign_in("viewer")
    open_ready(client, case)
    response = client.get(address(case), headers={**HTMX, "HX-Target": "compared-queries"})
    assert attributes(tree(response))["id"] == "compared-queries"


def test_statements_do_not_grow_with_the_queries(sign_in, people, team, script, django_assert_max_num_queries):
    counts = []
    client = sign_in("viewer")
    for number in (3, 70):
        names = [f"query {index}" for index in range(number)]
        case = make_case(names, {name: {"a": 3} for name in names}, owner=people["admin"])
        cases.share(case=case, team=team)
        for answer in ("ab", "ba"):
            run_with(case, dict.fromkeys(names, answer))
        client.get(address(case))
        with django_assert_max_num_queries(25) as captured:
            assert len(texts(client.get(address(case)))) == min(number, 50)
        counts.append(len(captured))
    assert counts[0] == counts[1]


# --- an opened query ---


def entry(case, text):
    return case.case_queries.get(query__text=text)


def test_opened_query_shows_both_lists_and_every_document_once(sign_in, case, compared):
    client = sign_in("rater")
    response = open_ready(client, case, open=entry(case, "query 1").pk)
    (before,) = elements(tree(response), **{"data-side": "before"})
    (after,) = elements(tree(response), **{"data-side": "after"})
    moves = [[attributes(row)["data-move"] for row in elements(side, _name="li")] for side in (before, after)]
    assert moves == [["gone", "same", "same"], ["up", "up"]]
    documents = [
        attributes(row)["data-doc"] for row in elements(tree(response), _name="li") if "data-doc" in attributes(row)
    ]
    assert documents == ["a", "b", "x"]
    assert "0 in, 1 out, 2 moved" in words(after)
    assert words(by_id(response, "query-difference")) == "+100.0"


def test_opened_query_with_a_failed_search(sign_in, case, compared):
    failed = Ranking.objects.filter(run=compared[1], query__text="query 1")
    set_hits(failed, [], error_kind="refused", error="Not today")
    response = open_ready(sign_in("viewer"), case, open=entry(case, "query 1").pk)
    (after,) = elements(tree(response), **{"data-side": "after"})
    assert "The search failed (refused): Not today" in words(after)


def test_opened_query_of_another_case_is_not_found(sign_in, case, compared):
    other = make_case(1)
    assert sign_in("viewer").get(address(case, open=other.case_queries.get().pk)).status_code == 404


def test_viewers_cannot_rate(sign_in, case, compared):
    response = open_ready(sign_in("viewer"), case, open=entry(case, "query 1").pk)
    assert not elements(tree(response), role="radiogroup")
    url = address(case, "compare_rate", entry(case, "query 1").pk)
    assert sign_in("viewer").post(url, {"doc_id": "x", "value": "3"}).status_code == 403


def test_a_rating_changes_both_sides_and_the_verdict_follows(sign_in, case, compared):
    client = sign_in("rater")
    page = open_ready(client, case, open=entry(case, "query 1").pk)
    (document,) = elements(tree(page), **{"data-doc": "x"})
    (form,) = elements(document, _name="form")
    response = client.post(attributes(form)["action"], {"doc_id": "x", "value": "3"}, headers=HTMX)
    assert words(by_id(response, "query-difference")) == "0.0"
    assert attributes(by_id(response, "compared-head"))["hx-swap-oob"] == "true"
    verdict = by_id(response, "verdict")
    assert "data-pending" in attributes(verdict) or words(by_id(response, "difference")) == "+33.3"
    assert words(by_id(client.get(address(case)), "difference")) == "+33.3"
    client.post(attributes(form)["action"], {"doc_id": "x", "value": ""}, headers=HTMX)
    assert words(by_id(open_ready(client, case), "difference")) == "+66.7"


def test_rating_without_javascript_leads_back(sign_in, case, compared):
    client = sign_in("rater")
    url = address(case, "compare_rate", entry(case, "query 1").pk)
    response = client.post(url, {"doc_id": "x", "value": "3"})
    assert response.status_code == 302
    assert f"open={entry(case, 'query 1').pk}" in response["Location"]
    refused = client.post(url, {"doc_id": "x", "value": "17"}, headers=HTMX)
    assert refused.status_code == 409


def test_query_text_is_escaped(sign_in, people, team, script):
    text = '<script>alert("x")</script>'
    case = make_case([text, "b"], {text: {"a": 3}}, owner=people["admin"])
    cases.share(case=case, team=team)
    for answer in ("ab", "ba"):
        run_with(case, {text: answer})
    response = open_ready(sign_in("viewer"), case, open=entry(case, text).pk)
    assert text not in response.content.decode()


# --- what to rate next ---


def test_what_to_rate_next_leads_to_the_query_and_follows_a_rating(sign_in, case, compared):
    client = sign_in("rater")
    step = by_id(open_ready(client, case), "next-rate")
    assert words(step).startswith("rate these 2 documents")
    response = client.get(attributes(step)["href"])
    rows = elements(by_id(response, "compared-ratings"), _name="tr")[1:]
    assert [(attributes(row)["data-to-rate"], words(row).split()[1:]) for row in rows] == [
        ("x", ["query", "1", "1", "–", "33.3"]),
        ("x", ["query", "3", "1", "–", "33.3"]),
    ]
    assert "narrows that to about 0.0" in words(by_id(response, "compared-tabs"))
    (link, _) = elements(by_id(response, "compared-ratings"), _name="a")
    opened = client.get(address(case) + attributes(link)["href"])
    assert attributes(by_id(opened, "compared-query"))["data-entry"] == str(entry(case, "query 1").pk)
    for text in ("query 1", "query 3"):
        client.post(address(case, "compare_rate", entry(case, text).pk), {"doc_id": "x", "value": "0"})
    open_ready(client, case)
    part = client.get(address(case, tab="rate"), headers={**HTMX, "HX-Target": "compared-tabs"})
    assert attributes(tree(part))["id"] == "compared-tabs"
    assert not elements(tree(part), id="compared-ratings")


def test_editors_can_let_raters_judge_what_changes_most_first(sign_in, case, compared):
    client = sign_in("editor")
    part = open_ready(client, case, tab="rate")
    settings = client.get(attributes(by_id(part, "judging-order-link"))["href"])
    assert settings.context["form"].is_by_difference
    chosen = [int(field.value()) for field in settings.context["form"].compared_fields]
    assert chosen[:2] == [run.pk for run in part.context["page"].pair]
    assert "judging-order-link" not in open_ready(sign_in("rater"), case, tab="rate").content.decode()


# --- next steps, and tabs ---


def test_the_verdict_ends_with_links_to_what_to_do_next(sign_in, case, compared):
    """The queries of its sentences are links, too."""
    client = sign_in("editor")
    response = open_ready(client, case, run=[2, 1])  # two of three queries lost
    worse = by_id(response, "next-worse")
    assert words(worse) == "look at the 2 queries that got worse"
    opened = client.get(attributes(worse)["href"])
    assert texts(opened) == ["query 1", "query 3"]
    assert attributes(by_id(opened, "compared-query"))["data-entry"] == str(entry(case, "query 1").pk)
    assert attributes(by_id(response, "next-queries"))["href"] == f"{reverse('case', args=[case.pk])}#add-queries"
    (carriers,) = [link for link in elements(by_id(response, "verdict"), _name="a") if words(link) == "2 queries"]
    assert texts(client.get(attributes(carriers)["href"])) == ["query 1", "query 3"]


def test_tabs_are_named_by_the_address_and_loaded_alone(sign_in, case, compared):
    client = sign_in("viewer")
    page = open_ready(client, case, q="query", open=entry(case, "query 1").pk)
    link = attributes(by_id(page, "tab-figures"))
    assert "q=query" in link["href"] and "open=" in link["href"]
    part = client.get(address(case) + link["hx-get"], headers={**HTMX, "HX-Target": "compared-tabs"})
    assert attributes(tree(part))["id"] == "compared-tabs"
    assert attributes(by_id(part, "tab-figures"))["aria-current"] == "page"
    assert elements(tree(part), id="compared-figures")
    assert figure(part, "not-compared") == "1"
    rows = elements(by_id(client.get(address(case, tab="charts")), "compared-queries"), **{"data-open-query": ""})
    assert all("tab=charts" in attributes(row)["href"] for row in rows)


def test_a_document_that_moved_says_why(sign_in, case, compared):
    response = open_ready(sign_in("viewer"), case, open=entry(case, "query 1").pk)
    moved = {
        attributes(row)["data-doc"]: elements(row, **{"_name": "a", "data-unfold": ""})
        for row in elements(tree(response), _name="li")
        if "data-doc" in attributes(row)
    }
    assert {doc_id: len(links) for doc_id, links in moved.items()} == {"a": 1, "b": 1, "x": 1}
    url = attributes(moved["a"][0])["href"]
    assert "doc_id=a" in url and "run=2" in url and "other=run%3A1" in url
    assert sign_in("viewer").get(url, headers=HTMX).status_code == 200


def test_a_case_with_one_run_is_compared_with_runs_of_other_cases_on_the_book(sign_in, people, team, script):
    case = make_case(2, {"query 1": {"a": 3}}, owner=people["admin"], measures=("P@1",))
    cases.share(case=case, team=team)
    run_with(case, {"query 1": "ab", "query 2": "ab"})
    client = sign_in("viewer")
    alone = by_id(client.get(address(case)), "no-runs")
    assert attributes(elements(alone, _name="a")[0])["href"] == reverse("case", args=[case.pk])
    other = make_case(["query 1"], book_of=case, owner=people["admin"], measures=("P@1",))
    cases.share(case=other, team=team)
    run_with(other, {"query 1": "ba"})
    assert f"Run 1 of {other}" in words(by_id(open_ready(client, case), "verdict"))


# --- pins and files ---


def test_pin_name_and_note(sign_in, case, compared):
    client = sign_in("editor")
    response = client.post(address(case, "run_pin", 1))
    assert response["Location"] == address(case, run=1)
    assert Run.objects.get(pk=compared[0].pk).pinned_at
    client.post(address(case, "run_details", 1), {"name": "Before synonyms", "note": "May"})
    page = words(tree(open_ready(client, case)))
    assert "Run 1, Before synonyms" in page and "pinned" in page
    response = client.post(address(case, "run_unpin", 1), {"next": "run=2&run=1&open=//evil"})
    assert response["Location"] == f"{address(case)}?run=2&run=1"
    assert Run.objects.get(pk=compared[0].pk).pinned_at is None
    refused = client.post(address(case, "run_details", 1), {"name": "x\0"})
    assert refused.status_code == 422


def test_json_is_what_the_command_prints(sign_in, case, compared):
    client = sign_in("viewer")
    open_ready(client, case)
    response = client.get(address(case, "compare_json"))
    assert response["Content-Disposition"].endswith('-runs-1-2.json"')
    fresh = comparison.compare(runs=compared, version=ScorerVersion.objects.used_by(case)[0])
    assert json.loads(response.content) == json.loads(
        json.dumps(comparison_json.build_comparison(comparison.compute_figures(fresh)))
    )


def test_report_has_the_verdict_and_leads_nowhere(sign_in, case, compared):
    client = sign_in("viewer")
    page = open_ready(client, case)
    response = client.get(attributes(by_id(page, "compare-report"))["href"])
    assert response["Content-Disposition"].endswith('-runs-1-2.html"')
    report = response.content.decode()
    assert words(by_id(page, "verdict-sentence")) in words(tree(response))
    page = client.get(address(case, tab="figures"))
    assert figure(response, "changed").startswith(f"{figure(page, 'changed')} ")
    assert not elements(tree(response), _name="a") and not elements(tree(response), _name="script")
    assert case.owner.email not in report


def test_csv_has_the_list_as_filtered(sign_in, case, compared):
    client = sign_in("viewer")
    open_ready(client, case)
    response = client.get(address(case, "compare_csv", state="changed"))
    lines = b"".join(response.streaming_content).decode().splitlines()
    assert (
        lines[0]
        == "query,run 1,run 2,difference,weight,jaccard,rbo,changed,unrated run 1,unrated run 2,ms run 1,ms run 2,to gain run 2"
    )
    assert lines[1].startswith("query 1,0.0,100.0,100.0,1.0,0.666667,")
    assert len(lines) == 3


def test_files_that_are_not_ready(sign_in, case, compared, monkeypatch):
    monkeypatch.setattr(tasks, "send", lambda task, pk, **_: None)
    client = sign_in("viewer")
    for name in ("compare_csv", "compare_json", "compare_report"):
        response = client.get(address(case, name))
        assert response.status_code == 302
        assert re.search(r"/compare/\?run=1&run=2&scorer=\d+$", response["Location"])


def test_a_pinned_run_compares_when_its_engine_is_gone(sign_in, case, compared):
    runs.pin(run=compared[0])
    compared[0].attempt.endpoint.__class__.objects.all().update(engine="uninstalled")
    ratings.rate(query=query_of(case, "query 1"), doc_id="x", value=3, by=case.owner)
    response = open_ready(sign_in("viewer"), case, open=entry(case, "query 1").pk)
    assert words(by_id(response, "difference")) == "+33.3"


# --- tags ---


def test_table_of_tags_lists_the_surest_first_and_leads_to_their_queries(sign_in, case, compared):
    queries.tags.add(book=case.book, queries=[query_of(case, "query 2").pk], tags="a few")
    queries.tags.add(book=case.book, queries=[query_of(case, f"query {n}").pk for n in (1, 3)], tags="brand")
    response = open_ready(sign_in("viewer"), case)
    assert words(by_id(response, "tag-sentence")).startswith(
        "No tag has enough queries for a test: “brand”, “a few”. No tag"
    )
    rows = [words(row) for row in elements(tree(response), _name="tr") if "data-tag" in attributes(row)]
    assert rows[0].startswith("brand 2 0.0 100.0 +100.0 ")
    assert rows[0].endswith("too few queries to tell 2 · 0 · 0")
    assert rows[1] == "a few 1 100.0 100.0 0.0 too few queries to tell 0 · 1 · 0"
    (link,) = [link for link in elements(by_id(tree(response), "compared-tags"), _name="a") if words(link) == "brand"]
    assert texts(sign_in("viewer").get(address(case) + attributes(link)["href"])) == ["query 1", "query 3"]


def test_without_tags_there_is_no_table(sign_in, case, compared):
    page = tree(open_ready(sign_in("viewer"), case))
    assert not elements(page, id="compared-tags") and not elements(page, id="tab-tags")


# --- several runs, and runs of other cases ---


@pytest.fixture
def third(case, compared):
    return run_with(case, {"query 1": "ab", "query 2": "xa", "query 3": "ya", "query 4": "ab"})


def cells(response, run):
    (row,) = elements(by_id(response, "several-runs"), **{"data-run": str(run.pk)})
    return [words(cell) for cell in elements(row, _name="td")]


def test_three_runs_stand_in_a_table_and_one_of_them_is_shown(sign_in, case, compared, third):
    client = sign_in("viewer")
    runs_of_page = {"run": [1, 2, 3], "tab": "figures"}
    response = open_ready(client, case, run=[1, 2, 3])
    result = comparison.compare(runs=[*compared, third], version=ScorerVersion.objects.used_by(case)[0])
    second, last = result.pairs[0], result.pairs[1]
    shown_cells = cells(response, third)
    assert shown_cells[:2] == ["33.3", "0.0"]
    assert shown_cells[3:5] == [numbers.pvalue(last.paired.p), numbers.pvalue(last.p_holm)]
    assert shown_cells[6:9] == [numbers.pvalue(last.p_hsd), numbers.pvalue(result.pairs[2].p_hsd), ""]
    assert words(by_id(response, "verdict-sentence")) == comparison.describe_verdict(second)
    assert "Run 2, Run 1 and Run 3 cannot be told apart." in words(by_id(response, "compared-tabs"))

    (link,) = [item for item in elements(by_id(response, "several-runs"), _name="a") if words(item) == "Run 3"]
    shown = client.get(f"{address(case)}{attributes(link)['href']}&tab=figures")
    assert words(by_id(shown, "verdict-sentence")) == comparison.describe_verdict(last)
    assert words(by_id(shown, "difference")) == "0.0"
    assert figure(shown, "changed") == "3 of 4"
    assert texts(shown) == ["query 2", "query 3", "query 1", "query 4"]
    headings = [words(heading) for heading in elements(by_id(shown, "compared-queries"), _name="th")]
    assert {"Run 1", "Run 3"} <= set(headings)
    opened = client.get(address(case, **runs_of_page, other=2, open=entry(case, "query 2").pk))
    assert words(by_id(opened, "query-difference")) == "−100.0"
    lines = b"".join(client.get(address(case, "compare_csv", **runs_of_page, other=2)).streaming_content).decode()
    assert lines.startswith("query,run 1,run 3,")
    data = json.loads(client.get(address(case, "compare_json", **runs_of_page)).content)
    assert [len(data["runs"]), len(data["pairs"])] == [3, 3]


def test_runs_are_added_removed_and_made_the_baseline_by_links(sign_in, case, compared, third):
    client = sign_in("viewer")
    page = open_ready(client, case, run=[1, 2])
    response = client.get(address(case) + attributes(by_id(page, "add-run"))["href"])
    assert [item.run.number for item in StoredComparison.objects.first().compared_runs.all()] == [1, 2, 3]
    assert not elements(tree(response), id="add-run")
    page = tree(open_ready(client, case, run=[1, 2, 3]))
    removed = [attributes(link)["href"] for link in elements(page, _name="a") if words(link) == "Remove"]
    assert [re.findall(r"run=(\d)", url) for url in removed] == [["2", "3"], ["1", "3"], ["1", "2"]]
    baselines = [attributes(link)["href"] for link in elements(page, _name="a") if words(link) == "Use as baseline"]
    assert [re.findall(r"run=(\d)", url) for url in baselines] == [["2", "1", "3"], ["3", "1", "2"]]


@pytest.fixture
def foreign(case, people, team):
    """A run of another case on the same book, which the team may see."""
    other = make_case(["query 1", "query 2"], book_of=case, owner=people["admin"], measures=("P@1",))
    Case.objects.filter(pk=other.pk).update(name="Other")
    cases.share(case=other, team=team)
    return run_with(other, {"query 1": "ab", "query 2": "ab"})


def test_grades_of_a_former_scale_are_refused(sign_in, case, compared):
    client = sign_in("rater")
    query = entry(case, "query 1").pk
    keys = {
        attributes(field)["value"]
        for field in elements(tree(open_ready(client, case, open=query)), _name="input", name="scale")
    }
    assert keys == {case.book.scale_key}
    remap(case)
    url = address(case, "compare_rate", query)
    response = client.post(url, {"doc_id": "x", "value": "1", "scale": keys.pop()}, headers=HTMX)
    assert (response.status_code, response.headers["HX-Refresh"]) == (409, "true")
    assert not query_of(case, "query 1").ratings.filter(doc_id="x").exists()


def test_a_run_of_another_case_on_the_book(sign_in, case, compared, foreign):
    client = sign_in("rater")
    value = f"{foreign.case_id}:1"
    response = open_ready(client, case, run=[1, value])
    assert words(by_id(response, "verdict-sentence")).startswith(
        "Too few queries to tell whether Run 1 of Other is better than Run 1 of "
    )
    assert texts(response) == ["query 2", "query 1"]
    (group,) = elements(tree(response), _name="optgroup")
    assert attributes(group)["label"] == "Other"
    swapped = attributes(by_id(response, "swap-runs"))["href"]
    assert swapped == f"{reverse('compare', args=[foreign.case_id])}?run=1&run={case.pk}%3A1"
    assert "Run 1 of Other" in words(by_id(open_ready(client, foreign.case, run=["1", f"{case.pk}:1"]), "verdict"))
    assert client.get(swapped).status_code == 200

    opened = open_ready(client, case, run=[1, value], open=entry(case, "query 1").pk)
    (document,) = elements(tree(opened), **{"data-doc": "x"})
    (form,) = elements(document, _name="form")
    rated = client.post(attributes(form)["action"], {"doc_id": "x", "value": "3"}, headers=HTMX)
    assert rated.status_code == 200
    opened = open_ready(client, case, run=[1, value], open=entry(case, "query 1").pk)
    assert words(by_id(opened, "query-difference")) == words(by_id(opened, "difference")) == "0.0"


def test_runs_of_cases_that_the_user_may_not_see_do_not_exist(sign_in, case, compared, foreign):
    foreign.case.teams.clear()
    response = sign_in("viewer").get(address(case, run=[1, f"{foreign.case_id}:1"]))
    (notice,) = elements(tree(response), **{"data-notice": "cannot-compare"})
    assert "does not exist in this case" in words(notice)
    assert not elements(tree(response), _name="optgroup")
    response = sign_in("admin").get(address(case, run=[f"{foreign.case_id}:1", 1]))
    (notice,) = elements(tree(response), **{"data-notice": "cannot-compare"})
    assert "The baseline must be a run of" in words(notice)
