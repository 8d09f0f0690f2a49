"""Raters who judge blind see the grades of others only after they have judged a document; editors see all."""

import pytest

from relevancy import books, judging, scores
from relevancy.models import Activity, Book, Role, User, Verdict
from tests.factories import make_case, make_team, make_user, query_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def rater() -> User:
    return make_user("Jonas")


@pytest.fixture
def case(rater: User):
    """A case and its book, shared with a rater; its owner has rated two documents."""
    case = make_case(1, {"query 1": {"a": 3, "b": 2}})
    team = make_team(Jonas=Role.RATER, Lea=Role.EDITOR, Nora=Role.VIEWER)
    case.teams.add(team)
    case.book.teams.add(team)
    return case


def hides(book: Book, user: User) -> bool:
    return Book.objects.hides_grades(book.pk, user)


def test_only_raters_are_blind(case, rater):
    lea, nora = User.objects.get(name="Lea"), User.objects.get(name="Nora")
    admin, stranger = make_user(superuser=True), make_user()
    people = (rater, case.owner, lea, nora, admin, stranger)
    assert [hides(case.book, user) for user in people] == [True, False, False, False, False, False]


def test_editors_of_a_case_see_the_grades_of_its_book(case, rater):
    team = make_team(Jonas=Role.EDITOR)
    make_case(1, book_of=case, owner=case.owner).teams.add(team)
    assert not hides(case.book, rater)


def test_a_book_can_show_grades_to_its_raters(case, rater):
    books.change_book(book=case.book, raters_are_blind=False, by=case.owner)
    assert not hides(case.book, rater)
    entry = Activity.objects.get(verb=Activity.Verb.BOOK_CHANGED)
    assert "raters see the grades of others" in str(entry.details)


def test_ratings_of_others_are_seen_with_the_own_judgment(case, rater):
    query = query_of(case, "query 1")
    judging.judge(query=query, doc_id="a", by=rater, value=1)
    judging.judge(query=query, doc_id="b", by=rater, verdict=Verdict.LATER)
    seen = scores.QueryRatings.read(query.pk).blind_for(rater)
    assert {doc_id: [record.rater_name for record in records] for doc_id, records in seen.by_document.items()} == {
        "a": [case.owner.name, "Jonas"],
        "b": ["Jonas"],
    }
    assert seen.grades(query.book) == {"a": 1}
