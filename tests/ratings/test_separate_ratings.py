"""Grades that stand apart become ratings in short transactions, and are taken back so."""

import pytest

from relevancy.models import Book, Rating, User
from relevancy.ratings import separate_ratings
from tests.factories import make_case, make_user, query_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The queries of each transaction; at most two ratings to one."""
    sizes: list[list[int]] = []
    change_book = separate_ratings.change_book

    def change_some(**fields: object) -> int:
        sizes.append(list(fields["query_ids"]))  # type: ignore[call-overload]
        return change_book(**fields)  # type: ignore[arg-type]

    monkeypatch.setattr(separate_ratings, "change_book", change_some)
    monkeypatch.setattr(separate_ratings, "RATINGS_AT_ONCE", 2)
    return sizes


def let_count(book: Book, rater: User, grades: list[tuple[int, str, float]]) -> separate_ratings.Counted:
    return separate_ratings.accept_grades(
        book=book,
        rater=rater,
        by=book.owner,
        source="clicks",
        query_ids={query_id for query_id, _, _ in grades},
        read=lambda query_ids: [grade for grade in grades if grade[0] in query_ids],
        replaces=True,
    )


def test_parts_have_few_ratings_and_together_do_the_whole(parts: list[list[int]]) -> None:
    case = make_case(3, {"query 1": {"a": 3}})
    book, rater = case.book, make_user("Clicks")
    one, two, three = (query_of(case, f"query {number}").pk for number in (1, 2, 3))
    grades = [(one, "a", 1.0), (one, "b", 1.0), (one, "c", 2.0), (two, "a", 3.0), (three, "a", 0.0), (three, "b", 99.0)]
    assert let_count(book, rater, grades) == separate_ratings.Counted(changed=4, left_out=1, off_scale=1)
    assert parts == [[one], [two], [three]]
    assert Rating.objects.filter(rater=rater).count() == 4
    parts.clear()
    assert let_count(book, rater, [(two, "a", 2.0)]).changed == 4  # one differs, three are removed
    assert [query_id for part in parts for query_id in part] == [one, two, three]
    assert list(Rating.objects.filter(rater=rater).values_list("doc_id", "value")) == [("a", 2.0)]
    assert separate_ratings.withdraw_ratings(book=book, rater=rater, by=case.owner, source="clicks") == 1
    assert not Rating.objects.filter(rater=rater).exists()
    assert let_count(book, rater, []) == separate_ratings.Counted(0, 0, 0)
