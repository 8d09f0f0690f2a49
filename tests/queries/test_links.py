import pytest
from django.core.exceptions import ValidationError

from relevancy import queries
from relevancy.models import QueryLink
from tests.factories import make_case, query_of

pytestmark = pytest.mark.django_db


def linked_texts(case):
    return [[item.query.text for item in linked] for linked in queries.links_of(case).values()]


def numbered(case, *numbers):
    return [query_of(case, f"query {number}") for number in numbers]


def test_link_joins_queries_and_those_they_are_linked_with():
    case = make_case(5)
    queries.link(queries=numbered(case, 1, 2))
    queries.link(queries=numbered(case, 4, 5))
    assert linked_texts(case) == [["query 1", "query 2"], ["query 4", "query 5"]]
    queries.link(queries=numbered(case, 5, 2))
    assert linked_texts(case) == [["query 1", "query 2", "query 4", "query 5"]]
    assert QueryLink.objects.count() == 1


def test_link_refuses_one_query_and_queries_of_another_book():
    case, other = make_case(2), make_case(1)
    with pytest.raises(ValidationError, match="at least two"):
        queries.link(queries=numbered(case, 1, 1))
    with pytest.raises(ValidationError, match="one book"):
        queries.link(queries=[*numbered(case, 1), *numbered(other, 1)])
    assert not QueryLink.objects.exists()


def test_link_refuses_too_many_and_changes_nothing(monkeypatch):
    monkeypatch.setattr("relevancy.queries.links.MAX_LINKED", 2)
    case = make_case(3)
    queries.link(queries=numbered(case, 1, 2))
    with pytest.raises(ValidationError, match="3 queries cannot be linked"):
        queries.link(queries=numbered(case, 2, 3))
    assert linked_texts(case) == [["query 1", "query 2"]]


def test_unlink_removes_one_query_and_a_link_that_only_one_is_left_of():
    case = make_case(3)
    one, two, three = numbered(case, 1, 2, 3)
    queries.link(queries=[one, two, three])
    assert queries.unlink(query=one) == [one.pk, two.pk, three.pk]
    assert linked_texts(case) == [["query 2", "query 3"]]
    assert queries.unlink(query=two) == [two.pk, three.pk]
    assert queries.unlink(query=three) == []
    assert not QueryLink.objects.exists()


def test_links_are_found_in_the_order_of_the_case_and_read_by_id(django_assert_num_queries):
    case = make_case(7)
    second, first = (queries.link(queries=numbered(case, *numbers)) for numbers in ((4, 5), (1, 7)))
    queries.link(queries=numbered(case, 2, 3))
    queries.remove(case_query=case.case_queries.get(query__text="query 3"))
    assert list(queries.find_links(case)) == [first.pk, second.pk]
    with django_assert_num_queries(1):
        linked = queries.links_of(case, [second.pk])
        assert [[item.query.text for item in of_link] for of_link in linked.values()] == [["query 4", "query 5"]]


def test_links_of_leaves_out_queries_that_are_not_in_the_case():
    case = make_case(2)
    queries.link(queries=numbered(case, 1, 2))
    queries.remove(case_query=case.case_queries.get(query__text="query 2"))
    assert linked_texts(case) == []


def test_similar_queries_finds_what_is_written_alike():
    texts = {1: "star trek", 2: "Star Treck", 3: "moby dick", 4: "star track"}
    assert queries.similar_queries("star trek", texts, count=9)[:1] == [1]
    assert set(queries.similar_queries("star trek", texts, count=9)) == {1, 2, 4}
    assert len(queries.similar_queries("star trek", texts, count=2)) == 2
