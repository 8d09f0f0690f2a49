"""Linked queries of a case: listed, linked by hand, unlinked, and linked again."""

from urllib.parse import urlsplit

import pytest

from relevancy import queries, scores
from tests.factories import make_case, query_of

from .example_cases import at, attributes, by_id, case_query_of, elements, make_workbench_case, words


@pytest.fixture
def case(people, team, script):
    case = make_workbench_case(people, team)
    case.book.teams.add(team)
    return case


def linked_texts(case):
    return [[item.query.text for item in linked] for linked in queries.links_of(case).values()]


def undo_url(response):
    *_, message = response.wsgi_request._messages
    return message.extra_tags.removeprefix("undo:").split()[0]


def test_links_are_made_from_a_list_undone_and_made_again(sign_in, case):
    client = sign_in("editor")
    first, second = case_query_of(case, "query 1"), case_query_of(case, "query 2")
    page = client.get(at(case, "query_links"), {"query": first.pk})
    boxes = [attributes(box) for box in elements(by_id(page, "link-form"), _name="input")]
    offered = [box for box in boxes if box.get("name") == "queries"]
    assert offered[0]["value"] == str(first.pk)
    assert [box["value"] for box in offered if "checked" in box] == [str(first.pk)]
    client.post(at(case, "query_links_add"), {"queries": [first.pk, second.pk]})
    assert linked_texts(case) == [["query 1", "query 2"]]
    assert "query 2" in words(by_id(client.get(at(case, "query_links")), "links"))
    answer = client.post(at(case, "query_unlink", second.pk))
    assert linked_texts(case) == []
    url = undo_url(answer)
    assert urlsplit(url).path == at(case, "query_links_add")
    client.post(url)
    assert linked_texts(case) == [["query 1", "query 2"]]
    link = query_of(case, "query 1").link_id
    client.post(undo_url(client.post(at(case, "query_links_remove", link))))
    assert linked_texts(case) == [["query 1", "query 2"]]


def test_links_come_in_pages(sign_in, case, monkeypatch):
    monkeypatch.setattr("relevancy.views.workbench.links.LINKS_PER_PAGE", 1)
    queries.add(case=case, texts=["one more", "another one"])
    for texts in (["query 1", "query 2"], ["one more", "another one"]):
        queries.link(queries=[query_of(case, text) for text in texts])
    client = sign_in("viewer")
    pages = [client.get(at(case, "query_links"), {"page": number}) for number in (1, 2)]
    assert [len(elements(by_id(page, "links"), _name="tr")) for page in pages] == [2, 2]  # with the heading
    assert "query 1" in words(by_id(pages[0], "links")) and "another one" in words(by_id(pages[1], "links"))


def test_links_are_found_by_text_and_refused_with_a_reason(sign_in, case):
    client = sign_in("editor")
    page = client.get(at(case, "query_links"), {"q": "ERY 2"})
    assert "query 2" in words(by_id(page, "candidates")) and "query 1" not in words(by_id(page, "candidates"))
    refused = client.post(at(case, "query_links_add"), {"queries": [case_query_of(case, "query 1").pk]}, follow=True)
    assert "Select at least two queries to link." in refused.content.decode()
    assert client.post(at(case, "query_links_add"), {"queries": ["x"]}, follow=True).status_code == 200
    assert linked_texts(case) == []


def test_links_are_read_only_for_those_who_may_not_change_the_book(sign_in, case):
    queries.link(queries=[query_of(case, "query 1"), query_of(case, "query 2")])
    page = sign_in("viewer").get(at(case, "query_links"))
    assert "query 1" in words(by_id(page, "links"))
    assert not elements(by_id(page, "content"), _name="form")


def test_a_row_says_that_its_query_is_linked(sign_in, case):
    queries.link(queries=[query_of(case, "query 1"), query_of(case, "query 2")])
    page = sign_in("viewer").get(at(case, "case"))
    labels = [
        "linked" in words(by_id(page, f"query-row-{case_query_of(case, text).pk}")) for text in ("query 1", "query 3")
    ]
    assert labels == [True, False]


def test_ratings_are_counted_and_copied_between_linked_queries(sign_in, case):
    """Query 1 has the grades a 3 and x 1, query 2 has c 2."""
    client = sign_in("editor")
    first, second = case_query_of(case, "query 1"), case_query_of(case, "query 2")
    link = queries.link(queries=[first.query, second.query])
    url = at(case, "query_links_copy", link.pk)
    assert url in client.get(at(case, "query_links")).content.decode()
    rows = elements(by_id(client.get(url), "copies"), _name="tr")[1:]
    assert [(attributes(row)["data-copies"], words(row).split(" Copy")[0]) for row in rows] == [
        ("2", "query 1 2"),
        ("1", "query 2 1"),
    ]
    answer = client.post(url, {"query": first.query_id}, follow=True)
    assert "2 ratings copied" in answer.content.decode()
    known = scores.known_grades(case.book, [first.query_id, second.query_id])
    assert known == {first.query_id: {"a": 3, "x": 1}, second.query_id: {"a": 3, "x": 1, "c": 2}}
    copies = [attributes(row)["data-copies"] for row in elements(by_id(client.get(url), "copies"), _name="tr")[1:]]
    assert copies == ["0", "1"]
    assert client.post(url, {"query": case_query_of(case, "query 3").query_id}).status_code == 404
    other = make_case(2)
    foreign = queries.link(queries=[query_of(other, text) for text in ("query 1", "query 2")])
    assert client.post(at(case, "query_links_copy", foreign.pk), {"query": first.query_id}).status_code == 404
