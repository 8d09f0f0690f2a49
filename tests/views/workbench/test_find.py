"""Find any document: searched for in the engine, with its place in the run, and rated there."""

import pytest

from relevancy import cases, endpoints, runs
from relevancy.engines.errors import BadQuery
from relevancy.models import CaseScore, Endpoint, Rating
from relevancy.runs import finding
from relevancy.slow_requests import Busy
from tests.factories import make_case, rate_all, run_now

from .example_cases import HTMX, at, attributes, case_query_of, elements, make_workbench_case, tree, words

FILMS = [{"id": str(rank), "title": "Star" + " film" * rank} for rank in range(1, 15)]


@pytest.fixture
def films(people, team, data_dir):
    """A shared case whose run shows 5 of 10 results that it returned, of 14 that match."""
    case = make_case(["star"], {"star": {"2": 3}}, owner=people["admin"])
    cases.share(case=case, team=team)
    endpoint = endpoints.create(name="films", engine="embedded", url="films", by=case.owner)
    with endpoints.connect(endpoint) as engine:
        engine.load_documents([*FILMS, {"id": "solaris", "title": "Solaris <i>1972</i>"}])
    attempt = runs.attempts.save(
        case=case,
        endpoint=endpoint,
        template='{"query": "#$query##", "fields": {"title": 1}}',
        fields="id:id title:title",
        depth=5,
        by=case.owner,
    )
    run_now(attempt)
    return case


def find(client, case, **query):
    return client.get(at(case, "query_find", case_query_of(case, "star").pk, **query), headers=HTMX)


def places(page):
    """Document id → where the page says that the query has it."""
    rows = elements(tree(page), _name="li", cls="result")
    return {attributes(row)["data-document"]: words(elements(row, data_position="")[0]) for row in rows}


def test_find_says_where_the_query_has_each_document(sign_in, films, monkeypatch):
    monkeypatch.setattr(finding, "MAX_RANK", 12)
    page = find(sign_in("editor"), films, text="2 7 11 14 solaris", method="ids")
    assert places(page) == {
        "2": "rank 2",
        "7": "rank 7, not shown",
        "11": "rank 11 now",
        "14": "matches, beyond rank 12",
        "solaris": "does not match",
    }
    assert "looked for on the first 12 ranks" in words(tree(page))
    assert "Solaris <i>1972</i>" in words(tree(page))


def test_find_a_missing_document_and_rate_it(sign_in, films):
    client, case_query = sign_in("editor"), case_query_of(films, "star")
    before = CaseScore.objects.get(run__case=films).score
    page = find(client, films, text="solaris")
    assert places(page) == {"solaris": "does not match"}
    (form,) = [form for form in elements(tree(page), _name="form") if attributes(form).get("data-rate") == "solaris"]
    rated = client.post(attributes(form)["hx-post"], {"doc_id": "solaris", "value": "3"}, headers=HTMX)
    assert rated.status_code == 200
    assert Rating.objects.get(doc_id="solaris").value == 3
    assert CaseScore.objects.get(run__case=films).score < before, "A relevant document is missing."
    listed = client.get(at(films, "query_unretrieved", case_query.pk), headers=HTMX)
    assert "solaris" in words(tree(listed))
    (checked,) = elements(tree(find(client, films, text="solaris")), role="radio", aria_checked="true")
    assert attributes(checked)["data-grade"] == "3"


def test_find_explains_why_a_document_does_not_match(sign_in, films):
    client = sign_in("editor")
    (link,) = [
        link
        for link in elements(tree(find(client, films, text="solaris")), _name="a")
        if "query_explain" in link.name or "/explain/" in attributes(link).get("href", "")
    ]
    page = client.get(attributes(link)["hx-get"], headers=HTMX)
    assert "Required, and does not match: title:star" in words(tree(page))


def test_find_without_javascript(sign_in, films):
    client = sign_in("editor")
    page = client.get(at(films, "query_find", case_query_of(films, "star").pk))
    (form,) = elements(tree(page), _name="form", cls="find-form")
    assert attributes(form)["method"] == "get"
    assert {attributes(field).get("name") for field in elements(form, _name="input")} == {"text"}
    result = client.get(attributes(form)["action"], {"text": "solaris", "method": "query"})
    assert b"<html" in result.content and places(result) == {"solaris": "does not match"}


def test_find_before_and_without_results(sign_in, films):
    client = sign_in("editor")
    form = find(client, films)
    assert form.status_code == 200 and not elements(tree(form), role="status")
    assert "Words that must all occur" in words(tree(form))
    assert "optional" not in words(tree(form))
    assert "The engine found no document." in words(tree(find(client, films, text="xylophone")))
    assert find(client, films, text="x" * 501).status_code == 422


@pytest.mark.parametrize("reason", [BadQuery("Cannot parse <b>"), Busy(), runs.RunNotAllowed("Not yours.")])
def test_find_says_why_it_cannot(sign_in, films, monkeypatch, reason):
    def refuse(*args, **kwargs):
        raise reason

    monkeypatch.setattr(runs, "find_documents", refuse)
    (alert,) = elements(tree(find(sign_in("editor"), films, text="star")), role="alert")
    assert words(alert) == str(reason)


def test_find_with_an_endpoint_that_has_moved(sign_in, films):
    Endpoint.objects.update(url="elsewhere")
    assert "is now elsewhere" in words(tree(find(sign_in("editor"), films, text="star")))


@pytest.mark.parametrize("who", ["viewer", "rater"])
def test_find_is_for_editors_only(sign_in, films, who):
    client, case_query = sign_in(who), case_query_of(films, "star")
    assert find(client, films, text="star").status_code == 403
    opened = tree(client.get(at(films, "query", case_query.pk), headers=HTMX))
    assert not elements(opened, role="tab", data_tab_name="find")
    listed = tree(client.get(at(films, "query_unretrieved", case_query.pk), headers=HTMX))
    assert "Find any document" not in words(listed)


def test_find_is_a_tab_and_a_link_of_what_was_not_returned(sign_in, films):
    client, case_query = sign_in("editor"), case_query_of(films, "star")
    opened = tree(client.get(at(films, "query", case_query.pk, tab=f"{case_query.pk}-find"), headers=HTMX))
    (position,) = elements(opened, cls="tab-slot")
    assert attributes(position)["hx-get"] == at(films, "query_find", case_query.pk)
    assert "Find any document" in words(tree(client.get(at(films, "query_unretrieved", case_query.pk), headers=HTMX)))


def test_only_rated_keeps_true_ranks(sign_in, films):
    """The rated documents among the results at their ranks, and after them those that are not shown."""
    rate_all(films, {"star": {"4": 1, "7": 2, "12": 3}}, by=films.owner)
    client, case_query = sign_in("viewer"), case_query_of(films, "star")

    def ranks(page):
        rows = elements(page, _name="li", cls="result")
        return [words(elements(row, cls="rank")[0]) for row in rows]

    everything = tree(client.get(at(films, "query", case_query.pk), headers=HTMX))
    assert ranks(everything) == ["1", "2", "3", "4", "5"]
    (switch,) = [link for link in elements(everything, _name="a") if words(link) == "Only rated"]
    only_rated = tree(client.get(attributes(switch)["hx-get"], headers=HTMX))
    assert ranks(only_rated) == ["2", "4"]
    (field,) = elements(only_rated, _name="input", name="open")
    assert attributes(field)["data-tab"] == f"{case_query.pk}-rated", "It stays while runs come and go."
    (position,) = elements(only_rated, cls="tab-slot")
    listed = client.get(attributes(position)["hx-get"], headers=HTMX)
    assert places(listed) == {"12": "beyond rank 10", "7": "below what is shown"}
    assert ranks(tree(listed)) == ["–", "7"]
    (back,) = [link for link in elements(only_rated, _name="a") if words(link) == "All results"]
    assert ranks(tree(client.get(attributes(back)["hx-get"], headers=HTMX))) == ["1", "2", "3", "4", "5"]


def test_only_rated_is_not_offered_where_nothing_shown_is_rated(sign_in, films):
    Rating.objects.all().delete()
    opened = tree(sign_in("viewer").get(at(films, "query", case_query_of(films, "star").pk), headers=HTMX))
    assert not [link for link in elements(opened, _name="a") if words(link) == "Only rated"]


def test_find_of_an_engine_without_ids(sign_in, people, team, script):
    case = make_workbench_case(people, team)
    page = sign_in("editor").get(at(case, "query_find", case_query_of(case, "query 1").pk), headers=HTMX)
    (choice,) = elements(tree(page), _name="select")
    assert [attributes(option)["value"] for option in elements(choice, _name="option")] == ["query", "template"]
