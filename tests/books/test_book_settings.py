"""Another rule or scale for a book: what it would do, and that it does exactly that."""

import pytest
from django.core.exceptions import ValidationError

from relevancy import books, judging, ratings, scores
from relevancy.models import Book, Case, CaseScore, Rating, RatingChange, ScorerVersion, User
from tests.factories import (
    make_attempt,
    make_case,
    make_user,
    query_of,
    rate_all,
    run_now,
    set_rule,
    stored_case_scores,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
RATINGS = {"query 1": {"a": 10, "b": 4, "c": 0}, "query 2": {"b": 7, "x": 9}}
ZERO_TO_THREE = [[grade, ""] for grade in range(4)]


@pytest.fixture
def case() -> Case:
    """Two queries that return a, b and c, rated from 0 to 10 by two raters, and run once."""
    case = make_case(2, RATINGS, measures=["nDCG@10", "P@3"], scale="0:10")
    rate_all(case, {"query 1": {"a": 3, "b": 9}}, make_user("Second"))
    run_now(make_attempt(case))
    return case


def fresh(case: Case) -> Book:
    book: Book = Book.objects.get(pk=case.book_id)
    return book


def settings_of(case: Case, **changes: object) -> books.BookSettings:
    given = {"rule": case.book.rule, "scale": case.book.scale, "relevant_from": case.book.relevant_from, **changes}
    return books.book_settings(**given)  # type: ignore[arg-type]


def rescored(case: Case) -> dict[str, float]:
    """The case scores that a worker stores, by scorer."""
    assert scores.rescore_case(Case.objects.get(pk=case.pk), seconds=60)
    run = case.runs.get()
    assert not scores.count_stale(run, *ScorerVersion.objects.used_by(case))
    return {name: row[0] for name, row in stored_case_scores(run).items()}


@pytest.mark.parametrize(
    ("changes", "new_grades"),
    [
        ({"rule": "mean"}, None),
        ({"rule": "majority", "relevant_from": 8}, None),
        ({"scale": [[grade, ""] for grade in range(21)]}, None),
        ({"scale": ZERO_TO_THREE, "relevant_from": None}, {0: 0, 3: 1, 4: 1, 7: 2, 9: 3, 10: 3}),
        (
            {"scale": [[0, "bad"], [1, "good"]], "relevant_from": None, "rule": "mean"},
            dict.fromkeys([0, 3, 4, 7, 9, 10], 1),
        ),
    ],
)
def test_the_preview_is_what_happens(
    case: Case, changes: dict[str, object], new_grades: dict[float, float] | None
) -> None:
    before = rescored(case)
    settings = settings_of(case, **changes)
    preview = books.preview_settings(book=fresh(case), settings=settings, new_grades=new_grades, by=case.owner)
    assert {row.version.scorer.name: row.before for row in preview.case_scores} == before
    assert rescored(case) == before  # nothing is stored
    assert books.BookSettings.of(fresh(case)) == settings_of(case)
    grades = scores.known_grades(fresh(case), case.book.queries.values_list("pk", flat=True))
    books.change_settings(
        book=fresh(case), settings=settings, new_grades=new_grades, can_merge_grades=True, by=case.owner
    )
    after = rescored(case)
    assert {row.version.scorer.name: row.after for row in preview.case_scores} == after
    assert after != before or "scale" in changes
    now = scores.known_grades(fresh(case), case.book.queries.values_list("pk", flat=True))
    changed = sum(grade != now[pk][doc_id] for pk, documents in grades.items() for doc_id, grade in documents.items())
    assert (preview.changed, preview.documents) == (changed, 5)


def test_new_grades_keep_raters_notes_and_times_and_are_logged(case: Case) -> None:
    before = list(Rating.objects.order_by("pk").values("pk", "rater", "note", "updated_at"))
    grades = {0.0: 0.0, 3.0: 3.0, 4.0: 1.0, 7.0: 2.0, 9.0: 0.0, 10.0: 3.0}  # 3 stays, 9 and 0 swap nothing
    settings = settings_of(case, scale=ZERO_TO_THREE, relevant_from=None)
    with pytest.raises(ValidationError, match="0, 9 all become 0; 3, 10 all become 3"):
        books.change_settings(book=fresh(case), settings=settings, new_grades=grades, by=case.owner)
    assert fresh(case).top == 10
    changed = books.change_settings(
        book=fresh(case), settings=settings, new_grades=grades, can_merge_grades=True, by=case.owner
    )
    assert list(Rating.objects.order_by("pk").values("pk", "rater", "note", "updated_at")) == before
    assert sorted(Rating.objects.values_list("value", flat=True)) == [0, 0, 0, 1, 2, 3, 3]
    log = RatingChange.objects.filter(source="remap")
    assert changed == log.count() == 5
    assert set(log.values_list("old_value", "new_value")) == {(4, 1), (7, 2), (9, 0), (10, 3)}
    assert all(change.old_rated_at for change in log)
    assert not RatingChange.objects.filter(source="remap").exclude(by=case.owner).exists()


def test_values_that_swap_are_not_mixed_up(case: Case) -> None:
    grades = {0.0: 10.0, 3.0: 7.0, 4.0: 6.0, 7.0: 3.0, 9.0: 1.0, 10.0: 0.0}
    books.change_settings(book=fresh(case), settings=settings_of(case), new_grades=grades, by=case.owner)
    assert sorted(Rating.objects.values_list("value", flat=True)) == [0, 1, 1, 3, 6, 7, 10]


def test_ratings_from_before_new_grades_cannot_be_undone(case: Case) -> None:
    query = query_of(case, "query 1")
    ratings.rate(query=query, doc_id="c", value=2, by=case.owner)
    ratings.rate(query=query, doc_id="c", value=0, by=case.owner)
    settings = settings_of(case, scale=ZERO_TO_THREE, relevant_from=None)
    grades = books.suggest_grades(fresh(case), settings)
    books.change_settings(book=fresh(case), settings=settings, new_grades=grades, can_merge_grades=True, by=case.owner)
    assert ratings.undo(by=case.owner, book=case.book) is None  # 2 of 10 is not 2 of 3
    ratings.rate(query=query_of(case, "query 1"), doc_id="c", value=3, by=case.owner)
    assert ratings.undo(by=case.owner, book=case.book) is not None
    assert Rating.objects.get(query=query, doc_id="c").value == 0


def test_suggestions_are_the_nearest_grades_of_two_the_lower(case: Case) -> None:
    settings = settings_of(case, scale=ZERO_TO_THREE, relevant_from=None)
    assert books.suggest_grades(fresh(case), settings) == {0: 0, 3: 1, 4: 1, 7: 2, 9: 3, 10: 3}
    settings = settings_of(case, scale=[[0, ""], [5, ""]], relevant_from=None)
    rate_all(case, {"query 2": {"y": 5}}, case.owner)
    assert books.suggest_grades(fresh(case), settings)[5] == 0


def test_a_book_has_rated_values_once_a_document_has_a_grade() -> None:
    case = make_case(1, {"query 1": {"a": 3}}, scale="0:10")
    assert (books.rated_values(case.book), books.has_rated_values(case.book)) == ([3], True)
    judging.judge(query=query_of(case, "query 1"), doc_id="b", verdict="cannot", by=case.owner)
    ratings.remove(query=query_of(case, "query 1"), doc_ids=["a"], by=case.owner)
    assert (books.rated_values(case.book), books.has_rated_values(case.book)) == ([], False)


@pytest.mark.parametrize(
    ("new_grades", "reason"),
    [
        (None, "rated 4, which is not on the scale 0 to 3"),
        ({0.0: 0.0, 3.0: 1.0, 4.0: 1.0, 7.0: 2.0, 10.0: 3.0}, "rated 9 meanwhile"),
        ({0.0: 0.0, 3.0: 1.0, 4.0: 1.0, 7.0: 2.0, 9.0: 9.0, 10.0: 3.0}, "rated 9, which is not on"),
    ],
)
def test_ratings_off_the_scale_are_refused(case: Case, new_grades: dict[float, float] | None, reason: str) -> None:
    settings = settings_of(case, scale=ZERO_TO_THREE, relevant_from=None)
    for call in (books.preview_settings, books.change_settings):
        with pytest.raises(ValidationError, match=reason):
            call(book=fresh(case), settings=settings, new_grades=new_grades, by=case.owner)
    assert (fresh(case).top, RatingChange.objects.filter(source="remap").count()) == (10, 0)


def test_settings_that_changed_since_the_preview_are_refused(case: Case) -> None:
    seen = settings_of(case)
    set_rule(book=fresh(case), rule="median")
    with pytest.raises(ValidationError, match="meanwhile"):
        books.change_settings(book=fresh(case), settings=settings_of(case, rule="mean"), expected=seen, by=case.owner)
    assert fresh(case).rule == "median"


def test_a_grade_of_the_former_scale_is_refused_by_a_request_that_began_before(case: Case) -> None:
    query = query_of(case, "query 1")  # with the book as it was
    settings = settings_of(case, scale=ZERO_TO_THREE, relevant_from=None)
    grades = books.suggest_grades(fresh(case), settings)
    books.change_settings(book=fresh(case), settings=settings, new_grades=grades, can_merge_grades=True, by=case.owner)
    with pytest.raises(ratings.InvalidRating, match="8 is not on the scale"):
        ratings.rate(query=query, doc_id="c", value=8, by=case.owner)
    assert rescored(case)


def test_scripts_and_cases_without_a_run_are_not_scored(case: Case) -> None:
    make_case(1, book_of=case, owner=case.owner)
    other = make_case(1, book_of=case)
    preview = books.preview_settings(book=fresh(case), settings=settings_of(case), by=case.owner)
    assert [row.case.pk for row in preview.case_scores] == [case.pk, case.pk]
    assert preview.hidden_cases == 1
    assert {row.difference for row in preview.case_scores} == {0}
    assert other.owner != case.owner


def test_quepids_rule_is_offered_for_books_with_imported_ratings_only() -> None:
    assert "quepid" in books.offered_rules(make_case(1, {"query 1": {"a": 1}}).book)
    case = make_case(1)
    assert "quepid" not in books.offered_rules(case.book)
    set_rule(book=case.book, rule="quepid")
    assert "quepid" in books.offered_rules(case.book)


def test_a_copy_has_everything_and_the_original_stays(case: Case) -> None:
    ratings.rate(query=query_of(case, "query 2"), doc_id="y", value=5, by=case.owner, note="Half")
    by: User = make_user()
    settings = settings_of(case, scale=ZERO_TO_THREE, relevant_from=None, rule="mean")
    grades = books.suggest_grades(fresh(case), settings)
    arguments = {"book": fresh(case), "settings": settings, "new_grades": grades, "by": by}
    with pytest.raises(ValidationError, match="all become"):
        books.copy_book(name="Copy", **arguments)  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="blank"):
        books.copy_book(name="", can_merge_grades=True, **arguments)  # type: ignore[arg-type]
    assert Book.objects.count() == 1
    copy = books.copy_book(name="Copy", can_merge_grades=True, **arguments)  # type: ignore[arg-type]
    assert (copy.owner, copy.rule, copy.top, copy.relevant_from) == (by, "mean", 3, 1)
    copied = Rating.objects.filter(query__book=copy).values_list("query__text", "doc_id", "rater", "note", "updated_at")
    original = Rating.objects.filter(query__book=case.book)
    assert set(copied) == set(original.values_list("query__text", "doc_id", "rater", "note", "updated_at"))
    assert sorted(Rating.objects.filter(query__book=copy).values_list("value", flat=True)) == [0, 1, 1, 1, 2, 3, 3, 3]
    assert sorted(original.values_list("value", flat=True)) == [0, 3, 4, 5, 7, 9, 9, 10]
    assert CaseScore.objects.filter(run__case__book=copy).count() == 0
