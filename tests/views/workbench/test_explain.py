"""Why a document matched, and rated documents that are not shown."""

import pytest

from relevancy import cases, endpoints, runs
from relevancy.models import Endpoint
from tests.factories import make_case, run_now

from .example_cases import HTMX, at, attributes, by_id, elements, entry_of, make_bench, tree, words

FILMS = [
    {"id": "1", "title": "Star Wars", "poster": "https://images.example/1.jpg"},
    {"id": "2", "title": "Star Trek"},
    {"id": "3", "title": "Solaris <i>1972</i>", "poster": "https://images.example/3.jpg"},
]


@pytest.fixture
def films(people, team, data_dir):
    """A case on an embedded index of three films, run once and shared."""
    case = make_case(["star"], {"star": {"1": 3, "3": 2, "gone": 3}}, owner=people["admin"])
    cases.share(case=case, team=team)
    endpoint = endpoints.create(name="films", engine="embedded", url="films", by=case.owner)
    with endpoints.connect(endpoint) as engine:
        engine.load_documents(FILMS)
    attempt = runs.attempts.save(
        case=case,
        endpoint=endpoint,
        template='{"query": "#$query##", "fields": {"title": 1}}',
        fields="id:id title:title thumb:poster",
        by=case.owner,
    )
    run_now(attempt)
    return case


def ask(client, case, name, text="star", **query):
    return client.get(at(case, name, entry_of(case, text).pk, **query), headers=HTMX)


def test_explain(sign_in, films):
    answer = ask(sign_in("editor"), films, "query_explain", doc_id="1")
    assert answer.status_code == 200
    (bar,) = [svg for svg in elements(tree(answer), _name="svg") if attributes(svg).get("role") == "img"]
    assert attributes(bar)["aria-label"] == "title 100 %"
    assert "title:star" in words(tree(answer))
    assert "Full explanation of the engine" in words(tree(answer))


def test_explain_a_document_that_does_not_match(sign_in, films):
    text = words(tree(ask(sign_in("editor"), films, "query_explain", doc_id="3")))
    assert "does not match the query" in text


def test_explain_says_why_it_cannot(sign_in, films):
    client = sign_in("editor")
    refused = ask(client, films, "query_explain", doc_id="no <b>").content.decode()
    assert "no document with the id “no &lt;b&gt;”" in refused
    Endpoint.objects.update(url="elsewhere")
    assert "is now elsewhere" in words(tree(ask(client, films, "query_explain", doc_id="1")))


def test_explain_as_a_page(sign_in, films):
    entry = entry_of(films, "star")
    page = sign_in("editor").get(at(films, "query_explain", entry.pk, doc_id="1"))
    assert b"<html" in page.content and b"title:star" in page.content


def test_missing_lists_ids_then_titles(sign_in, films):
    client = sign_in("editor")
    entry = entry_of(films, "star")
    part = by_id(ask(client, films, "query_unretrieved"), f"unretrieved-{entry.pk}")
    assert [words(title) for title in elements(part, cls="title")] == ["gone", "3"]
    looked = by_id(ask(client, films, "query_unretrieved", look="1"), f"unretrieved-{entry.pk}")
    assert [words(title) for title in elements(looked, cls="title")] == ["gone", "Solaris <i>1972</i>"]
    assert elements(looked, _name="i") == []
    assert [words(pill) for pill in elements(looked, cls="pill")] == ["not in the index"]
    assert [attributes(image)["src"] for image in elements(looked, _name="img")] == ["https://images.example/3.jpg"]


def test_missing_where_all_are_shown(sign_in, films):
    films.book.queries.get().ratings.exclude(doc_id="1").delete()
    assert "All documents that are rated" in words(tree(ask(sign_in("viewer"), films, "query_unretrieved")))


def test_missing_says_why_it_cannot_look_up(sign_in, films):
    Endpoint.objects.update(url="elsewhere")
    answer = ask(sign_in("editor"), films, "query_unretrieved", look="1")
    assert answer.status_code == 200
    assert "is now elsewhere" in words(tree(answer))
    assert "gone" in words(tree(answer))


def test_missing_of_an_engine_without_ids(sign_in, people, team, script):
    case = make_bench(people, team)
    text = words(tree(ask(sign_in("viewer"), case, "query_unretrieved", "query 1")))
    assert "Look" not in text
    assert "x" in text.split()


def test_explain_and_missing_without_a_run(sign_in, people, team, script):
    case = make_bench(people, team, run=False)
    client = sign_in("editor")
    for name in ("query_unretrieved", "query_explain"):
        assert ask(client, case, name, "query 1").status_code == 404


@pytest.mark.parametrize("name", ["query_unretrieved", "query_explain"])
def test_explain_and_missing_are_for_those_who_see_the_case(sign_in, films, name):
    assert ask(sign_in("stranger"), films, name, doc_id="1").status_code == 404


@pytest.mark.parametrize("who", ["viewer", "rater"])
def test_engine_is_searched_for_editors_only(sign_in, films, monkeypatch, who):
    """The documents are listed for every user of the case; looking them up and explaining sends requests."""
    monkeypatch.setattr("relevancy.runs.unretrieved.connect_for_page", None)
    monkeypatch.setattr("relevancy.runs.explanations.connect_for_page", None)
    client = sign_in(who)
    listed = ask(client, films, "query_unretrieved")
    assert listed.status_code == 200
    assert "Look" not in words(tree(listed))
    assert elements(tree(listed), **{"data-key-press": "explain"}) == []
    opened = ask(client, films, "query")
    assert elements(tree(opened), **{"data-key-press": "explain"}) == []
    assert elements(tree(ask(sign_in("editor"), films, "query")), **{"data-key-press": "explain"}) != []
    client = sign_in(who)
    assert ask(client, films, "query_unretrieved", look="1").status_code == 403
    assert ask(client, films, "query_explain", doc_id="1").status_code == 403


def test_engine_is_not_searched_for_users_who_may_no_longer_use_the_endpoint(sign_in, films, people):
    """The owner of a case whose endpoint belongs to another user, after leaving the endpoint's team."""
    Endpoint.objects.update(owner=people["admin"])
    films.owner = people["stranger"]
    films.save()
    client = sign_in("stranger")
    page = client.get(at(films, "case"))
    assert elements(tree(page), **{"data-notice": "endpoint-not-usable"}) != []
    for name, query in (("query_unretrieved", {"look": "1"}), ("query_explain", {"doc_id": "1"})):
        answer = ask(client, films, name, **query)
        assert answer.status_code == 200
        assert "Stranger may not use the endpoint films" in words(tree(answer))
