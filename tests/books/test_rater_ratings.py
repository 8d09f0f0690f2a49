"""All ratings of one rater in a book: removed, or given to a person."""

from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from relevancy import accounts, books, hooks, judging, ratings, scores
from relevancy.models import Case, JudgingPair, Rating, RatingChange, User, Verdict
from relevancy.ratings import separate_ratings
from tests.factories import (
    make_attempt,
    make_case,
    make_team,
    make_user,
    query_of,
    rate_all,
    run_now,
    stored_case_scores,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture
def case() -> Case:
    """Three queries with a run that returns a, b and c, and some ratings by the owner."""
    case = make_case(3, {"query 1": {"a": 3, "b": 0}, "query 2": {"a": 2}})
    run_now(make_attempt(case))
    judging.build_judging_queue(book=case.book)
    return case


@pytest.fixture
def named(case: Case) -> User:
    """A name in a file, with a note, an older rating, “cannot judge” and “later”."""
    rater = accounts.ensure_raters(["Dana"], by=case.owner)["Dana"]
    rate_all(case, {"query 1": {"a": 0, "c": 2}, "query 2": {"b": 1}, "query 3": {"a": 3, "b": 1}}, rater)
    before = timezone.now() - timedelta(days=3)
    Rating.objects.filter(rater=rater).update(updated_at=before, note="From the file")
    rows = Rating.objects.filter(rater=rater, query__text="query 3")
    rows.filter(doc_id="a").update(verdict=Verdict.CANNOT, value=None)
    rows.filter(doc_id="b").update(verdict=Verdict.LATER, value=None)
    return rater


def rated(user: User) -> list[tuple[str, str, str, float | None]]:
    rows = Rating.objects.filter(rater=user).order_by("query__text", "doc_id")
    return list(rows.values_list("query__text", "doc_id", "verdict", "value"))


def case_score(case: Case) -> float | None:
    assert scores.rescore_case(Case.objects.get(pk=case.pk), seconds=60)
    value: float | None = stored_case_scores(case.runs.get())["nDCG@10"][0]
    return value


def test_ratings_are_counted(case: Case, named: User) -> None:
    result = books.count_ratings_of(book=case.book, rater=named)
    assert result == {"total": 5, "rated": 3, "cannot": 1, "later": 1, "decided": 0, "documents": 3, "queries": 3}


def test_all_ratings_are_removed_and_logged(case: Case, named: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(separate_ratings, "RATINGS_AT_ONCE", 2)
    others, before = rated(case.owner), rated(named)
    preview = books.preview_removal(book=case.book, rater=named, by=case.owner)
    assert (preview.ratings, preview.hidden_cases, rated(named)) == (5, 0, before)
    assert preview.case_scores[0].before == case_score(case)
    assert books.remove_ratings(book=case.book, rater=named, by=case.owner) == 5
    assert (rated(named), rated(case.owner)) == ([], others)
    assert preview.case_scores[0].after == case_score(case) != preview.case_scores[0].before
    log = RatingChange.objects.filter(source=books.REMOVAL_SOURCE, rater=named, by=case.owner, new_verdict="")
    kept = log.order_by("query__text", "doc_id").values_list("query__text", "doc_id", "old_verdict", "old_value")
    assert list(kept) == before
    assert set(log.values_list("old_note", flat=True)) == {"From the file"}
    assert books.remove_ratings(book=case.book, rater=named, by=case.owner) == 0


@pytest.mark.parametrize(("verdict", "doc_id"), [(Verdict.CANNOT, "a"), (Verdict.LATER, "b")])
def test_one_verdict_is_reset_and_the_document_comes_back(case: Case, verdict: str, doc_id: str) -> None:
    rater, query = make_user("Rater"), query_of(case, "query 3")
    ratings.rate(query=query, doc_id="c", value=1, by=rater)
    judging.judge(query=query, doc_id="a", verdict=Verdict.CANNOT, by=rater)
    judging.judge(query=query, doc_id="b", verdict=Verdict.LATER, by=rater)
    pairs = JudgingPair.objects.open().filter(query=query)
    assert not pairs.without_judgment_by(rater).exists()
    preview = books.preview_removal(book=case.book, rater=rater, verdict=verdict, by=case.owner)
    assert preview.ratings == 1
    assert preview.case_scores[0].difference == 0
    assert books.remove_ratings(book=case.book, rater=rater, verdict=verdict, by=case.owner) == 1
    assert [pair.doc_id for pair in pairs.without_judgment_by(rater)] == [doc_id]
    assert set(pairs.values_list("level", flat=True)) == ({0} if verdict == Verdict.CANNOT else {0, 1})
    assert [row[1] for row in rated(rater)] == [item for item in "abc" if item != doc_id]


def test_the_ratings_of_a_decision_count_again(case: Case) -> None:
    query, judge = query_of(case, "query 1"), make_user("Judge")
    judging.adjudicate(query=query, doc_id="a", value=1, by=judge)
    assert books.count_ratings_of(book=case.book, rater=judge)["decided"] == 1
    books.remove_ratings(book=case.book, rater=judge, by=case.owner)
    assert scores.known_grades(case.book, [query.pk])[query.pk]["a"] == 3


def test_a_file_name_gives_its_ratings_to_a_person_who_keeps_her_own(
    case: Case, named: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(separate_ratings, "RATINGS_AT_ONCE", 2)
    owner = case.owner
    judging.judge(query=query_of(case, "query 2"), doc_id="b", verdict=Verdict.LATER, by=owner)
    ids = dict(Rating.objects.filter(rater=named).values_list("pk", "updated_at"))
    preview = books.preview_assignment(book=case.book, rater=named, person=owner, by=owner)
    assert (preview.ratings, preview.left_out) == (5, 1)
    assert preview.case_scores[0].before == case_score(case)
    result = books.assign_ratings(book=case.book, rater=named, person=owner, by=owner)
    assert result == (4, 1)
    assert preview.case_scores[0].after == case_score(case)
    assert rated(named) == []
    assert rated(owner) == [
        ("query 1", "a", "rated", 3.0),
        ("query 1", "b", "rated", 0.0),
        ("query 1", "c", "rated", 2.0),
        ("query 2", "a", "rated", 2.0),
        ("query 2", "b", "rated", 1.0),
        ("query 3", "a", "cannot", None),
        ("query 3", "b", "later", None),
    ]
    kept = Rating.objects.filter(rater=owner, note="From the file")
    assert kept.count() == 4
    assert set(kept.values_list("updated_at", flat=True)) == set(ids.values())
    assert kept.filter(pk__in=ids).count() == 3  # one replaced “later”
    log = RatingChange.objects.filter(source=books.ASSIGNMENT_SOURCE, by=owner)
    assert (log.filter(rater=named, new_verdict="").count(), log.filter(rater=owner).count()) == (5, 4)


def test_of_ratings_of_one_moment_the_same_decides_afterwards(case: Case, named: User) -> None:
    query, other = query_of(case, "query 3"), make_user("Other")
    rate_all(case, {"query 3": {"c": 1}}, named)
    rate_all(case, {"query 3": {"c": 3}}, other)
    Rating.objects.filter(query=query, doc_id="c").update(updated_at=timezone.now())
    assert scores.known_grades(case.book, [query.pk])[query.pk]["c"] == 3
    books.assign_ratings(book=case.book, rater=named, person=case.owner, by=case.owner)
    assert scores.known_grades(case.book, [query.pk])[query.pk]["c"] == 3


def test_only_names_of_files_are_given_and_only_to_known_people(case: Case, named: User) -> None:
    owner = case.owner
    with pytest.raises(ValidationError):
        books.assign_ratings(book=case.book, rater=owner, person=make_user(), by=owner)
    stranger, mate = make_user("Stranger"), make_user("Mate")
    with pytest.raises(ValidationError):
        books.assign_ratings(book=case.book, rater=named, person=stranger, by=owner)
    team = make_team()
    for user in (owner, mate):
        team.memberships.create(user=user, role=1)
    User.objects.filter(pk=owner.pk).update(is_superuser=False)
    assert set(books.people_to_assign(by=User.objects.get(pk=owner.pk))) == {owner, mate}
    assert books.assign_ratings(book=case.book, rater=named, person=mate, by=owner)[0] == 5


def test_ratings_of_a_machine_are_removed_on_the_page_of_its_app_if_the_site_has_it(case: Case, monkeypatch) -> None:
    machine = accounts.ensure_machine("Model")
    rate_all(case, {"query 1": {"new": 1}}, machine)
    with monkeypatch.context() as patched:
        patched.setattr(hooks, "links_at", lambda place, shown: [hooks.Link("Models", "/models/", "models-link")])
        with pytest.raises(ValidationError):
            books.remove_ratings(book=case.book, rater=machine, by=case.owner)
    assert books.remove_ratings(book=case.book, rater=machine, by=case.owner) == 1
