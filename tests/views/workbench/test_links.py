"""Linked queries of a case: listed, linked by hand, unlinked, and linked again."""

from urllib.parse import urlsplit

import pytest

from relevancy import queries, scores
from tests.factories import make_case, query_of

from .example_cases import HTMX, at, attributes, by_id, case_query_of, elements, make_workbench_case, words


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


def test_sharing_is_previewed_given_and_restored_by_undo(sign_in, case):
    """Query 1 has the grades a 3 and x 1, query 2 has c 2: each of them gets those of the other."""
    client = sign_in("editor")
    first, second = case_query_of(case, "query 1"), case_query_of(case, "query 2")
    link = queries.link(queries=[first.query, second.query])
    page = client.get(at(case, "query_links_sharing", link.pk))
    assert "3 documents" in words(by_id(page, "sharing-counts"))
    rows = [words(row) for row in elements(by_id(page, "shared-grades"), _name="tr")]
    assert rows[1:] == ["a 3 – 3", "c – 2 2", "x 1 – 1"]
    client.post(at(case, "query_links_sharing", link.pk), {"shares": "1"})

    def grades(entry):
        return scores.known_grades(case.book, [entry.query_id])[entry.query_id]

    assert grades(first) == grades(second) == {"a": 3, "x": 1, "c": 2}
    rated = client.post(at(case, "rate", second.pk, rank=1), {"doc_id": "a", "value": "0"}, headers=HTMX)
    assert rated.status_code == 200
    assert grades(first)["a"] == grades(second)["a"]
    undo = undo_url(client.post(at(case, "query_unlink", second.pk)))
    assert "a" not in grades(second) or grades(first) != grades(second)
    client.post(undo)
    assert grades(first) == grades(second)
    client.post(at(case, "query_links_sharing", query_of(case, "query 1").link_id), {"shares": "0"})
    assert "c" not in grades(first)
    other = make_case(2)
    foreign = queries.link(queries=[query_of(other, text) for text in ("query 1", "query 2")])
    assert client.post(at(case, "query_links_sharing", foreign.pk), {"shares": "1"}).status_code == 404
