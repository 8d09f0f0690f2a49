"""What the workbench shows of tags, order, annotations, highlights and old runs."""

import pytest
from django.utils import timezone

from relevancy import queries, ratings, scores
from relevancy.models import Book, Query, Run
from relevancy.views.workbench.query_filter import QueryFilter
from tests.factories import set_hits as set_stored_hits

from .example_cases import (
    HTMX,
    LIST,
    at,
    attributes,
    by_id,
    case_query_of,
    elements,
    make_workbench_case,
    set_hits,
    shown,
    tree,
    words,
)


@pytest.fixture
def case(people, team, script):
    case = make_workbench_case(people, team)
    case.book.teams.add(team)
    return case


def tag(case, **tags):
    for text, own_tags in tags.items():
        Query.objects.filter(book=case.book, text=text.replace("_", " ")).update(tags=own_tags)


def test_the_list_is_filtered_by_tag(sign_in, case):
    tag(case, query_1=["x", "both"], query_3=["both"])
    client = sign_in("viewer")
    page = client.get(at(case, "case", tag="both"))
    assert shown(page) == ["query 1", "query 3"]
    select = by_id(page, "tag")
    assert [words(option) for option in elements(select, _name="option")] == ["All tags", "both", "x"]
    assert [words(option) for option in elements(select, _name="option", selected="")] == ["both"]
    assert shown(client.get(at(case, "case", tag="both", q="3"), headers=LIST)) == ["query 3"]
    assert "No query has the tag “none”" in client.get(at(case, "case", tag="none")).content.decode()
    sort = elements(by_id(page, "queries"), cls="sort")[1]
    assert "tag=both" in attributes(sort)["href"]


def test_without_tags_there_is_nothing_to_filter_by(sign_in, case):
    page = tree(sign_in("viewer").get(at(case, "case")))
    assert elements(page, id="tag") == []
    assert elements(page, cls="tag-scores") == []


def test_export_link_says_what_is_shown(sign_in, case):
    client = sign_in("viewer")
    link = attributes(by_id(client.get(at(case, "case")), "export-list"))
    assert link["href"] == at(case, "queries_csv")
    fragment = client.get(at(case, "case", sort="-score", q="query"), headers=LIST)
    link = attributes(by_id(fragment, "export-list"))
    assert link["href"] == at(case, "queries_csv") + "?q=query&sort=-score"
    assert link["hx-swap-oob"] == "true"


@pytest.mark.parametrize(
    ("who", "query", "can"),
    [
        ("editor", {}, True),
        ("editor", {"run": "1"}, True),
        ("rater", {}, False),
        ("editor", {"q": "query"}, False),
        ("editor", {"sort": "score"}, False),
        ("editor", {"sort": "-place"}, False),
        ("editor", {"state": "unscored"}, False),
        ("editor", {"tag": "x"}, False),
    ],
)
def test_rows_are_dragged_only_in_the_manual_order(sign_in, case, who, query, can):
    tag(case, query_3=["x"])
    page = tree(sign_in(who).get(at(case, "case", **query)))
    assert bool(elements(page, _name="table", **{"data-order": ""})) is can
    assert bool(elements(page, _name="td", **{"data-drag": ""})) is can


def test_manual_order() -> None:
    assert QueryFilter().is_manual_order
    assert not QueryFilter(sort="-place").is_manual_order
    assert not QueryFilter(sort="score").is_manual_order
    assert not QueryFilter(tag="x").is_manual_order


def test_highlights_are_marked_and_other_html_is_escaped(sign_in, case):
    run = Run.objects.get(case=case)
    run.config["fields"] = "id:id title:title overview"
    run.save()
    fields = {"id": "a", "title": "Star <b>Wars</b>", "overview": "A <i>star</i> far away. " * 8}
    marks = {"title": "\ue000Star\ue001 <b>Wars</b>", "overview": "A <i>\ue000star\ue001</i> far away."}
    set_hits(run, "query 1", [("a", fields)])
    set_stored_hits(run.rankings.filter(query__text="query 1"), [["a", 1.0, fields, marks]])
    page = by_id(sign_in("viewer").get(at(case, "case", open=case_query_of(case, "query 1").pk)), "queries")
    assert [words(mark) for mark in elements(page, _name="mark")] == ["Star", "star"]
    result = elements(page, cls="result")[0]
    assert elements(result, _name="i") == []
    assert words(elements(result, cls="title")[0]) == "Star <b>Wars</b>"


def test_pictures_lead_to_larger_ones(sign_in, case):
    run = Run.objects.get(case=case)
    run.config["fields"] = "id:id title:title thumb:small image:large"
    run.save()
    fields = {"id": "a", "title": "A", "small": "https://a.example/s.png", "large": "https://a.example/l.png"}
    set_hits(run, "query 1", [("a", fields)])
    client = sign_in("viewer")
    case_query_id = case_query_of(case, "query 1").pk
    page = by_id(client.get(at(case, "case", open=case_query_id)), "queries")
    (link,) = elements(page, cls="thumb-link")
    assert attributes(elements(link, _name="img")[0])["src"] == "https://a.example/s.png"
    larger = elements(tree(client.get(attributes(link)["href"], headers=HTMX)), cls="document-image")
    assert [attributes(image)["src"] for image in larger] == ["https://a.example/l.png"]


def test_a_run_without_fields_says_so(sign_in, case):
    Run.objects.filter(case=case).update(fields_dropped_at=timezone.now())
    run = Run.objects.get(case=case)
    set_stored_hits(run.rankings.all(), [["a", 1.0, {}]])
    page = sign_in("viewer").get(at(case, "case", open=case_query_of(case, "query 1").pk))
    assert "keeps only ids and scores" in words(tree(page))
    assert [words(title) for title in elements(tree(page), _name="a", cls="title")] == ["a"]


def test_an_opened_query_counts_what_is_rated_and_not_shown(sign_in, case):
    client = sign_in("viewer")
    page = by_id(client.get(at(case, "case", open=case_query_of(case, "query 1").pk)), "queries")
    (tab,) = elements(page, **{"data-tab-name": "unretrieved"})
    assert words(elements(tab, cls="pill")[0]) == "1"
    page = by_id(client.get(at(case, "case", open=case_query_of(case, "query 2").pk)), "queries")
    (tab,) = elements(page, **{"data-tab-name": "unretrieved"})
    assert elements(tab, cls="pill") == []


def test_rating_a_document_that_is_not_shown(sign_in, case):
    client = sign_in("rater")
    case_query = case_query_of(case, "query 1")
    position = at(case, "rate", case_query.pk, unretrieved=1)
    answer = client.post(position, {"doc_id": "x", "value": "2"}, headers=HTMX)
    (form,) = elements(tree(answer), _name="form", **{"data-rate": "x"})
    chosen = [attributes(button)["data-grade"] for button in elements(form, **{"aria-checked": "true"})]
    assert chosen == ["2"]
    assert by_id(answer, f"query-row-{case_query.pk}")
    assert "rated" in answer.headers["HX-Trigger"]
    answer = client.post(position, {"doc_id": "x", "value": ""}, headers=HTMX)
    (form,) = elements(tree(answer), _name="form", **{"data-rate": "x"})
    assert elements(form, **{"aria-checked": "true"}) == []
    assert scores.known_grades(case.book, [case_query.query_id])[case_query.query_id]["x"] == 1


def test_raters_of_documents_that_are_not_shown_are_named_where_they_differ(sign_in, people, case):
    """A row that repeats the user's own grade, name and time says nothing that its buttons do not say."""
    case_query = case_query_of(case, "query 1")
    case_query.query.ratings.all().delete()
    Book.objects.update(raters_are_blind=False)
    for doc_id, grades in {"mine": (2, None), "same": (2, 2), "different": (2, 0), "others": (None, 1)}.items():
        for user, grade in zip((people["rater"], people["editor"]), grades, strict=True):
            if grade is not None:
                ratings.rate(query=case_query.query, doc_id=doc_id, value=grade, by=user)
    listed = tree(sign_in("rater").get(at(case, "query_unretrieved", case_query.pk), headers=HTMX))
    rows = {attributes(row)["data-document"]: row for row in elements(listed, _name="li", cls="result")}
    named = {doc_id: [words(part) for part in elements(row, cls="judgments")] for doc_id, row in rows.items()}
    assert named.keys() == {"mine", "same", "different", "others"}
    assert named["mine"] == named["same"] == []
    for doc_id, grade in {"different": "0", "others": "1"}.items():
        assert named[doc_id][0].startswith(f"{grade} Editor,"), doc_id
        assert "Rater" not in named[doc_id][0], doc_id


def test_tags_of_removed_queries_are_not_offered(sign_in, case):
    tag(case, query_1=["x"], query_2=["y"])
    queries.remove(case_query=case_query_of(case, "query 1"))
    assert queries.tags.of_case(case) == ["y"]
    assert queries.tags.of_book(case.book) == ["x", "y"]
