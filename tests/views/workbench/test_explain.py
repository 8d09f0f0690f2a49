"""Why a document matched, and rated documents that are not shown."""

import pytest

from relevancy import cases, endpoints, runs
from relevancy.engines.errors import EndpointUnreachable
from relevancy.models import Endpoint, Run
from relevancy.slow_requests import Busy
from tests.factories import make_case, run_now, set_hits

from .example_cases import HTMX, at, attributes, by_id, case_query_of, elements, make_workbench_case, tree, words

MINIMUM = '{"query": "#$query## wars", "fields": {"title": 1}, "minimum_should_match": 2}'
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
    return client.get(at(case, name, case_query_of(case, text).pk, **query), headers=HTMX)


def test_explain(sign_in, films):
    answer = ask(sign_in("editor"), films, "query_explain", doc_id="1")
    assert answer.status_code == 200
    assert "title 100 %" in words(tree(answer))
    assert "title:star" in words(tree(answer))
    assert "Full explanation of the engine" in words(tree(answer))


def test_explain_a_document_that_does_not_match(sign_in, films):
    page = tree(ask(sign_in("editor"), films, "query_explain", doc_id="3"))
    assert "does not match the query" in words(page)
    (failure,) = elements(page, _name="li", data_failure="required")
    assert words(failure) == "Required, and does not match: title:star"
    assert "None of the clauses of the query matches it" in words(page)


def test_explain_what_a_document_would_score(sign_in, films):
    Run.objects.update(config={**Run.objects.get().config, "template": MINIMUM})
    page = tree(ask(sign_in("editor"), films, "query_explain", doc_id="2"))
    (failure,) = elements(page, _name="li", data_failure="minimum")
    assert "At least 2 of the clauses must match, and fewer do: (title:star title:war)~2" in words(failure)
    assert "matches: title:star" in words(failure) and "missing: title:war" in words(failure)
    (row,) = elements(page, _name="table", cls="parts-table")
    assert "title:star" in words(row) and "100 %" in words(row)


def test_explain_says_why_it_cannot(sign_in, films):
    client = sign_in("editor")
    refused = ask(client, films, "query_explain", doc_id="no <b>").content.decode()
    assert "no document with the id “no &lt;b&gt;”" in refused
    Endpoint.objects.update(url="elsewhere")
    assert "is now elsewhere" in words(tree(ask(client, films, "query_explain", doc_id="1")))


def test_explain_as_a_page(sign_in, films):
    case_query = case_query_of(films, "star")
    page = sign_in("editor").get(at(films, "query_explain", case_query.pk, doc_id="1"))
    assert b"<html" in page.content and b"title:star" in page.content
    (bar,) = [svg for svg in elements(tree(page), _name="svg") if attributes(svg).get("aria-label") == "title 100 %"]
    assert elements(bar, _name="rect")


def bars(page):
    """What the bars of the results say, in the order of ranks."""
    svgs = [elements(cell, _name="svg") for cell in elements(tree(page), cls="explain-cell")]
    return [attributes(paths[0])["aria-label"] for paths in svgs if paths]


def test_explain_results_fills_every_row_and_the_legend(sign_in, films):
    client, case_query = sign_in("editor"), case_query_of(films, "star")
    opened = ask(client, films, "query")
    legend = by_id(opened, f"legend-{case_query.pk}")
    assert attributes(legend)["hx-trigger"] == "load"
    assert bars(opened) == ["not explained yet"] * 2
    places = [attributes(cell)["id"] for cell in elements(tree(opened), cls="explain-cell")]
    answer = ask(client, films, "query_explanations")
    assert [attributes(key)["class"] for key in elements(by_id(answer, f"legend-{case_query.pk}"), _name="rect")] == [
        "part1"
    ]
    assert "hx-trigger" not in attributes(by_id(answer, f"legend-{case_query.pk}"))
    for position in places:
        cell = by_id(answer, position)
        assert attributes(cell)["hx-swap-oob"] == "innerHTML"
        assert "title:star 100 %" in words(cell)
    again = ask(client, films, "query")
    assert bars(again) == ["title 100 %"] * 2
    assert "hx-trigger" not in attributes(by_id(again, f"legend-{case_query.pk}"))


@pytest.mark.parametrize("who", ["viewer", "rater"])
def test_stored_explanations_are_for_everybody_who_sees_the_case(sign_in, films, monkeypatch, who):
    """An editor asked for them; nobody else sends a request."""
    case_query = case_query_of(films, "star")
    closed = ask(sign_in(who), films, "query")
    assert "hx-trigger" not in attributes(by_id(closed, f"legend-{case_query.pk}"))
    assert bars(closed) == []
    ask(sign_in("editor"), films, "query_explanations")
    monkeypatch.setattr("relevancy.runs.explanations.query_engine", None)
    client = sign_in(who)
    assert bars(ask(client, films, "query")) == ["title 100 %"] * 2
    answer = ask(client, films, "query_explain", doc_id="1")
    assert "title:star" in words(tree(answer))
    assert "Full explanation" not in words(tree(answer))
    assert ask(client, films, "query_explain", doc_id="1", full="1").status_code == 403
    assert ask(client, films, "query_explain", doc_id="3").status_code == 403
    assert ask(client, films, "query_explanations").status_code == 403


def test_stored_explanation_leads_to_that_of_the_engine(sign_in, films):
    client = sign_in("editor")
    ask(client, films, "query_explanations")
    stored = ask(client, films, "query_explain", doc_id="1")
    assert elements(tree(stored), _name="pre") == []
    assert "Full explanation of the engine" in words(tree(stored))
    full = ask(client, films, "query_explain", doc_id="1", full="1")
    assert "weight(title:star" in words(elements(tree(full), _name="pre")[0])


def test_a_rating_keeps_what_was_explained(sign_in, films):
    client, case_query = sign_in("editor"), case_query_of(films, "star")
    ask(client, films, "query_explanations")
    row = by_id(ask(client, films, "query"), f"result-{case_query.pk}-1")
    rated = client.post(at(films, "rate", case_query.pk, rank=1), {"doc_id": "1", "value": "1"}, headers=HTMX)
    assert by_id(rated, f"rating-{case_query.pk}-1")
    for part in ("explain-cell", "explanation-slot"):
        assert elements(row, cls=part)
        assert not elements(tree(rated), cls=part)


@pytest.mark.parametrize("reason", [Busy(), EndpointUnreachable("Could not connect to <films>.")])
def test_explain_results_says_why_it_cannot(sign_in, films, monkeypatch, reason):
    def refuse(endpoint):
        raise reason

    case_query = case_query_of(films, "star")
    monkeypatch.setattr("relevancy.runs.page_requests.connect_for_page", refuse)
    answer = ask(sign_in("editor"), films, "query_explanations")
    assert answer.status_code == 200
    legend = by_id(answer, f"legend-{case_query.pk}")
    assert str(reason) in words(legend)
    assert "hx-trigger" not in attributes(legend)
    assert [attributes(link)["hx-get"] for link in elements(legend, _name="a")] == [
        at(films, "query_explanations", case_query.pk)
    ]
    assert [words(cell).split()[0] for cell in elements(tree(ask(sign_in("editor"), films, "query")), cls="top")] != []


def test_explain_results_without_htmx_leads_back_to_the_query(sign_in, films):
    case_query = case_query_of(films, "star")
    page = sign_in("editor").get(at(films, "query_explanations", case_query.pk), follow=True)
    assert bars(page) == ["title 100 %"] * 2


def test_results_of_an_engine_that_does_not_explain(sign_in, people, team, script):
    case = make_workbench_case(people, team)
    page = ask(sign_in("editor"), case, "query", "query 1")
    assert elements(tree(page), cls="without-bars") != []
    assert bars(page) == []
    assert elements(tree(page), **{"data-key-press": "explain"}) == []


def test_fields_of_a_result_have_names(sign_in, films):
    Run.objects.update(config=films.runs.get().config | {"fields": "id:id title:title year studio"})
    ranking = films.runs.get().rankings.get()
    ranking.hits[0][2] |= {"year": 1977, "studio": "Lucasfilm"}
    set_hits([ranking])
    row = by_id(ask(sign_in("viewer"), films, "query"), f"result-{case_query_of(films, 'star').pk}-1")
    assert [words(name) for name in elements(row, cls="field-name")] == ["year"]
    assert {"year", "studio"} <= {attributes(span).get("title") for span in elements(row, _name="span")}


def test_missing_lists_ids_then_titles(sign_in, films):
    client = sign_in("editor")
    case_query = case_query_of(films, "star")
    part = by_id(ask(client, films, "query_unretrieved"), f"unretrieved-{case_query.pk}")
    assert [words(title) for title in elements(part, cls="title")] == ["gone", "3"]
    section = attributes(part)
    assert (section["hx-trigger"], "look=1" in section["hx-get"]) == ("load", True)
    looked = by_id(ask(client, films, "query_unretrieved", look="1"), f"unretrieved-{case_query.pk}")
    assert [words(title) for title in elements(looked, cls="title")] == ["gone", "Solaris <i>1972</i>"]
    assert elements(looked, _name="i") == []
    assert "hx-trigger" not in attributes(looked)
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
    assert elements(tree(answer), **{"hx-trigger": "load"}) == []


def test_missing_of_an_engine_without_ids(sign_in, people, team, script):
    case = make_workbench_case(people, team)
    text = words(tree(ask(sign_in("viewer"), case, "query_unretrieved", "query 1")))
    assert "Look" not in text
    assert "x" in text.split()


def test_explain_and_missing_without_a_run(sign_in, people, team, script):
    case = make_workbench_case(people, team, run=False)
    client = sign_in("editor")
    for name in ("query_unretrieved", "query_explain", "query_explanations"):
        assert ask(client, case, name, "query 1").status_code == 404


@pytest.mark.parametrize("name", ["query_unretrieved", "query_explain", "query_explanations"])
def test_explain_and_missing_are_for_those_who_see_the_case(sign_in, films, name):
    assert ask(sign_in("stranger"), films, name, doc_id="1").status_code == 404


@pytest.mark.parametrize("who", ["viewer", "rater"])
def test_engine_is_searched_for_editors_only(sign_in, films, monkeypatch, who):
    """The documents are listed for every user of the case; looking them up and explaining sends requests."""
    monkeypatch.setattr("relevancy.runs.page_requests.connect_for_page", None)
    client = sign_in(who)
    listed = ask(client, films, "query_unretrieved")
    assert listed.status_code == 200
    assert "Look" not in words(tree(listed))
    assert elements(tree(listed), **{"hx-trigger": "load"}) == []
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
    for name, query in (
        ("query_unretrieved", {"look": "1"}),
        ("query_explain", {"doc_id": "1"}),
        ("query_explanations", {}),
    ):
        answer = ask(client, films, name, **query)
        assert answer.status_code == 200
        assert "Stranger may not use the endpoint films" in words(tree(answer))


def test_table_of_terms(sign_in, films):
    """Each term is a row, each result a column, and the columns add up to the engine scores."""
    client, case_query = sign_in("editor"), case_query_of(films, "star")
    tab = f"{case_query.pk}-explain"
    (position,) = elements(tree(ask(client, films, "query", tab=tab)), cls="explain-table")
    assert attributes(position)["hx-trigger"] == "load"
    answer = client.get(attributes(position)["hx-get"], headers=HTMX)
    (table,) = elements(tree(answer), _name="table")
    assert [words(cell) for cell in elements(elements(table, _name="thead")[0], _name="th")][1:] == ["1", "2"]
    (row,) = elements(elements(table, _name="tbody")[0], _name="tr")
    assert words(elements(row, _name="th")[0]) == "title:star"
    points = [words(cell) for cell in elements(row, _name="td")]
    assert points == [words(cell) for cell in elements(elements(table, _name="tfoot")[0], _name="td")]
    again = tree(ask(client, films, "query", tab=tab))
    assert "hx-trigger" not in attributes(elements(again, cls="explain-table")[0])


def test_table_of_terms_says_why_it_cannot(sign_in, films):
    Endpoint.objects.update(url="elsewhere")
    case_query = case_query_of(films, "star")
    answer = ask(sign_in("editor"), films, "query_explanations", tab=f"{case_query.pk}-explain")
    assert "is now elsewhere" in words(tree(answer))
    assert "hx-trigger" not in attributes(elements(tree(answer), cls="explain-table")[0])


# --- two explanations against each other ---


def difference_of(client, case, doc_id, other, **query):
    return ask(client, case, "query_explain_difference", doc_id=doc_id, other=other, **query)


def rows_of(page):
    """The rows of the terms: label, first, second, difference, factors."""
    rows = [
        elements(row, _name="td") for body in elements(tree(page), _name="tbody") for row in elements(body, _name="tr")
    ]
    return [[words(cell) for cell in row] for row in rows if len(row) == 5]


@pytest.fixture
def long_film(films):
    """A film in which the term stands in a longer title, and a second run of the case that boosts the title."""
    with endpoints.connect(films.attempts.get().endpoint) as engine:
        engine.load_documents([*FILMS, {"id": "4", "title": "A star, another star and much more of the kind"}])
    first = films.attempts.get()
    run_now(first)
    boosted = runs.attempts.save(
        case=films,
        endpoint=first.endpoint,
        template='{"query": "#$query##", "fields": {"title": 3}}',
        fields=first.fields,
        by=films.owner,
        parent=first,
    )
    run_now(boosted)
    return films


def test_difference_of_two_documents(sign_in, long_film):
    answer = difference_of(sign_in("editor"), long_film, "1", "doc:4")
    assert answer.status_code == 200
    ((label, first, second, difference, factors),) = rows_of(answer)
    assert label == "title:star"
    points = runs.explain(ranking_of(long_film), "1", by=long_film.owner).score
    others = runs.explain(ranking_of(long_film), "4", by=long_film.owner).score
    assert (first, second) == (f"{others:.2f}", f"{points:.2f}")
    assert difference == f"{points - others:+.2f}".replace("-", "−")
    assert factors.startswith(f"tf {difference}")
    assert "occurrences 2 → 1" in factors
    assert "of which tf of ‘star’" in words(tree(answer))


def test_difference_of_one_document_in_two_runs(sign_in, long_film):
    answer = difference_of(sign_in("editor"), long_film, "1", "run:2")
    ((_, first, second, difference, factors),) = rows_of(answer)
    assert float(second) == pytest.approx(3 * float(first), abs=0.02)
    assert factors == f"boost {difference}"
    assert "scores" in words(tree(answer)) and "in run 3 than in run 2" in words(tree(answer))


def test_difference_is_read_from_what_is_stored(sign_in, long_film, monkeypatch):
    ask(sign_in("editor"), long_film, "query_explanations")
    monkeypatch.setattr(endpoints, "connect", None)
    monkeypatch.setattr(runs, "explain", None)
    ((_, _, _, difference, factors),) = rows_of(difference_of(sign_in("viewer"), long_film, "1", "doc:4"))
    assert factors.startswith(f"tf {difference}")


def test_difference_that_is_not_stored_is_for_editors(sign_in, long_film, monkeypatch):
    monkeypatch.setattr(runs, "explain", None)
    answer = difference_of(sign_in("rater"), long_film, "1", "doc:4")
    assert answer.status_code == 200
    assert "An editor can request it from the engine" in words(tree(answer))


def test_difference_to_a_document_that_does_not_match(sign_in, long_film):
    answer = difference_of(sign_in("editor"), long_film, "1", "doc:3")
    ((_, first, second, _, factors),) = rows_of(answer)
    assert (first, factors) == ("", "")
    assert float(second) > 0
    assert "matched in one only" in words(tree(answer))
    assert "No clause of the query matches “3”. “1” scores" in words(tree(answer))


def test_difference_to_any_document_of_the_engine(sign_in, long_film):
    """The id that was entered counts, whatever is chosen in the list."""
    answer = difference_of(sign_in("editor"), long_film, "1", "run:2", other_id=" 4 ")
    assert [row[0] for row in rows_of(answer)] == ["title:star"]
    assert "“1” scores" in words(tree(answer))
    unknown = difference_of(sign_in("editor"), long_film, "1", "", other_id="nowhere")
    assert "nowhere" in words(tree(unknown))
    same = difference_of(sign_in("editor"), long_film, "1", "doc:1")
    assert "cannot be compared with itself" in words(tree(same))


def test_difference_of_a_rated_document_that_was_not_returned(sign_in, long_film):
    """It is offered for a result, and a result is offered for it."""
    client = sign_in("editor")
    assert "doc:3" in offered(ask(client, long_film, "query_explain", doc_id="1"))
    values = offered(ask(client, long_film, "query_explain", doc_id="3"))
    assert "doc:1" in values and "doc:3" not in values
    answer = difference_of(client, long_film, "3", "doc:1")
    assert "No clause of the query matches “3”. “3” scores" in words(tree(answer))


@pytest.mark.parametrize("other", ["", "doc:", "run:99", "run:x", "1", "set:1"])
def test_difference_to_nothing(sign_in, long_film, other):
    assert difference_of(sign_in("editor"), long_film, "1", other).status_code == 404


def test_explanation_offers_what_it_can_be_compared_with(sign_in, long_film):
    answer = ask(sign_in("editor"), long_film, "query_explain", doc_id="1")
    assert offered(answer) == ["doc:2", "doc:4", "doc:gone", "doc:3", "run:2", "run:1"]
    labels = [attributes(group)["label"] for group in elements(tree(answer), _name="optgroup")]
    assert labels == ["Results", "Rated, not among the results", "Other runs"]


def offered(answer):
    return [attributes(option)["value"] for option in elements(tree(answer), _name="option")]


def ranking_of(case):
    run = case.runs.select_related("case", "attempt__endpoint").latest("number")
    ranking = run.rankings.get()
    ranking.run = run
    return ranking
