"""A rater's ratings count once enough answers agree with the key; nothing that was answered is lost."""

import pytest
from django.core.exceptions import ValidationError

from relevancy import books, cases, judging, ratings, scores
from relevancy.activity.sentences import describe
from relevancy.models import Activity, Book, Case, Rating, RatingChange, Role, Team, User, Verdict
from relevancy.optional.qualification import qualification
from relevancy.optional.qualification.models import Qualification, QualificationAnswer
from tests.factories import make_attempt, make_case, make_user, query_of, remap, run_now

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
KEY = {"query 1": {"a": 3, "b": 0, "c": 2}, "query 2": {"a": 1, "b": 3, "c": 0}}
State = Qualification.State


@pytest.fixture
def case() -> Case:
    """Two queries with three documents each, all rated by the owner; shared with a team of raters."""
    case = make_case(2, KEY)
    run_now(make_attempt(case))
    judging.build_judging_queue(book=case.book)
    team = Team.objects.create(name="Raters")
    cases.share(case=case, team=team)
    return case


def test_a_set_is_drawn_before_anybody_has_opened_the_judging_page() -> None:
    case = make_case(2, KEY)
    run_now(make_attempt(case))
    assert qualification.draw_pairs(book=case.book, count=6, seed=7, by=case.owner) == 6


def make_rater(case: Case) -> User:
    rater = make_user()
    Team.objects.get(name="Raters").memberships.create(user=rater, role=Role.RATER)
    return rater


def switch_on(case: Case, share: int = 80, distance: float = 0, count: int = 6) -> Book:
    qualification.draw_pairs(book=case.book, count=count, seed=7, by=case.owner)
    qualification.set_rule(book=case.book, share=share, distance=distance, by=case.owner)
    return case.book


def answer_all(book: Book, rater: User, wrong: int = 0) -> str:
    """Judges the whole set, of which `wrong` documents with another grade. Returns the state afterwards."""
    while documents := qualification.next_documents(book=book, by=rater, count=1):
        pair = documents[0].pair
        key = KEY[documents[0].query.text][pair.doc_id]
        value = (key + 1) % 4 if wrong > 0 else key
        wrong -= 1
        qualification.answer(query=documents[0].query, doc_id=pair.doc_id, value=value, by=rater, note="mine")
    return str(qualification.find_qualification(book, rater).state)


def test_a_book_without_qualification_takes_ratings_of_everyone(case: Case) -> None:
    assert qualification.is_qualified(case.book, make_rater(case))


def test_draw_takes_the_grade_by_the_rule_and_is_even_over_the_grades(case: Case) -> None:
    assert qualification.draw_pairs(book=case.book, count=4, seed=7, by=case.owner) == 4
    assert sorted(pair.value for pair in qualification.active_pairs(case.book)) == [0, 1, 2, 3]
    assert qualification.draw_pairs(book=case.book, count=10, seed=7, by=case.owner) == 2
    keys = {(pair.query.text, pair.doc_id): pair.value for pair in qualification.active_pairs(case.book)}
    assert keys == {(text, doc_id): value for text, documents in KEY.items() for doc_id, value in documents.items()}


def test_draw_prefers_documents_that_raters_agree_on(case: Case) -> None:
    ratings.rate(query=query_of(case, "query 2"), doc_id="c", value=0, by=make_rater(case))
    for seed in range(5):
        qualification.active_pairs(case.book).delete()
        qualification.draw_pairs(book=case.book, count=1, seed=seed, by=case.owner)
        pair = qualification.active_pairs(case.book).get()
        assert (pair.query.text, pair.doc_id) == ("query 2", "c")


def test_a_small_set_cannot_be_switched_on(case: Case) -> None:
    qualification.draw_pairs(book=case.book, count=4, seed=7, by=case.owner)
    with pytest.raises(ValidationError, match="Add at least 1 more"):
        qualification.set_rule(book=case.book, share=80, distance=0, by=case.owner)
    assert qualification.find_rule(case.book).share is None


def test_documents_are_shown_without_ratings_and_later_is_not_stored(case: Case) -> None:
    book, rater = switch_on(case), make_rater(case)
    documents = qualification.next_documents(book=book, by=rater, count=10)
    assert len(documents) == 6
    assert all(document.own is None and not document.judgments for document in documents)
    assert all(document.result is not None for document in documents)
    first = documents[0]
    qualification.answer(query=first.query, doc_id=first.pair.doc_id, verdict=Verdict.LATER, by=rater)
    assert not QualificationAnswer.objects.exists()
    progress = qualification.measure_progress(book=book, by=rater)
    assert (progress.pairs, progress.left) == (6, 6)


def test_no_rating_of_a_new_rater_is_stored_before_the_rater_has_passed(case: Case) -> None:
    book, rater = switch_on(case), make_rater(case)
    query = query_of(case, "query 1")
    with pytest.raises(ratings.RatingRefused):
        ratings.rate(query=query, doc_id="z", value=1, by=rater)
    with pytest.raises(ratings.RatingRefused):
        judging.judge(query=query, doc_id="z", verdict=Verdict.CANNOT, by=rater)
    with pytest.raises(ratings.RatingRefused):
        ratings.rate_many(query=query, values={"z": 1}, by=rater, source="api")
    assert not Rating.objects.filter(rater=rater).exists()
    assert answer_all(book, rater) == State.PASSED
    ratings.rate(query=query, doc_id="z", value=1, by=rater)
    assert Rating.objects.get(rater=rater, doc_id="z").value == 1


def test_answers_become_ratings_when_the_rater_passes_and_not_before(case: Case) -> None:
    book, rater = switch_on(case, share=80), make_rater(case)
    documents = qualification.next_documents(book=book, by=rater, count=10)
    revisions = list(book.queries.values_list("revision", flat=True))
    for document in documents[:5]:
        value = KEY[document.query.text][document.pair.doc_id]
        qualification.answer(query=document.query, doc_id=document.pair.doc_id, value=value, by=rater)
    assert list(book.queries.values_list("revision", flat=True)) == revisions
    last = documents[5]
    grade = (KEY[last.query.text][last.pair.doc_id] + 1) % 4
    qualification.answer(query=last.query, doc_id=last.pair.doc_id, value=grade, by=rater)
    stored = qualification.find_qualification(book, rater)
    assert (stored.state, stored.agreed, stored.answered) == (State.PASSED, 5, 6)
    assert Rating.objects.filter(rater=rater).count() == 6
    assert set(RatingChange.objects.filter(rater=rater).values_list("source", flat=True)) == {"qualification"}
    assert scores.QueryRatings.read(last.query.pk).grades(book)[last.pair.doc_id] == grade  # the rule "latest"


def test_a_rater_who_has_not_passed_can_be_accepted(case: Case) -> None:
    book, rater = switch_on(case), make_rater(case)
    assert answer_all(book, rater, wrong=2) == State.FAILED
    assert qualification.next_documents(book=book, by=rater, count=3) == []
    assert not Rating.objects.filter(rater=rater).exists()
    assert QualificationAnswer.objects.filter(rater=rater).count() == 6
    assert qualification.accept_rater(book=book, rater=rater, by=case.owner) == 6
    assert set(Rating.objects.filter(rater=rater).values_list("note", flat=True)) == {"mine"}
    row = qualification.list_raters(book)[-1]
    assert (row.qualification.state, row.qualification.decided_by) == (State.ACCEPTED, case.owner)


def test_another_round_keeps_the_former_answers_and_counts_the_new_ones(case: Case) -> None:
    book, rater = switch_on(case), make_rater(case)
    answer_all(book, rater, wrong=6)
    qualification.let_try_again(book=book, rater=rater)
    assert len(qualification.next_documents(book=book, by=rater, count=10)) == 6
    assert answer_all(book, rater) == State.PASSED
    assert QualificationAnswer.objects.filter(rater=rater).count() == 12
    values = {(rating.query.text, rating.doc_id): rating.value for rating in Rating.objects.filter(rater=rater)}
    assert values == {(text, doc_id): value for text, documents in KEY.items() for doc_id, value in documents.items()}


def test_distance_and_cannot_judge(case: Case) -> None:
    book, rater = switch_on(case, share=80, distance=1), make_rater(case)
    documents = qualification.next_documents(book=book, by=rater, count=10)
    for number, document in enumerate(documents):
        key = KEY[document.query.text][document.pair.doc_id]
        judgment = {"verdict": Verdict.CANNOT} if number == 0 else {"value": key - 1 if key else 1}
        qualification.answer(query=document.query, doc_id=document.pair.doc_id, by=rater, **judgment)
    result = qualification.find_qualification(book, rater)
    assert (result.agreed, result.answered, result.state) == (5, 6, State.PASSED)


def test_known_raters_and_editors_need_no_qualification(case: Case) -> None:
    known = make_rater(case)
    ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=1, by=known)
    editor = make_user()
    Team.objects.get(name="Raters").memberships.create(user=editor, role=Role.EDITOR)
    case.book.teams.add(Team.objects.get(name="Raters"))
    book = switch_on(case)
    assert qualification.is_qualified(book, known)
    assert qualification.is_qualified(book, editor)
    assert qualification.is_qualified(book, case.owner)
    assert not qualification.is_qualified(book, make_rater(case))


def test_switching_off_lets_all_answers_count(case: Case) -> None:
    book = switch_on(case)
    failed, begun = make_rater(case), make_rater(case)
    answer_all(book, failed, wrong=6)
    document = qualification.next_documents(book=book, by=begun, count=1)[0]
    qualification.answer(query=document.query, doc_id=document.pair.doc_id, value=2, by=begun)
    qualification.set_rule(book=book, share=None, distance=0, by=case.owner)
    assert (Rating.objects.filter(rater=failed).count(), Rating.objects.filter(rater=begun).count()) == (6, 1)


def test_a_removed_document_keeps_its_answers(case: Case) -> None:
    book, rater = switch_on(case), make_rater(case)
    document = qualification.next_documents(book=book, by=rater, count=1)[0]
    qualification.answer(query=document.query, doc_id=document.pair.doc_id, value=2, by=rater)
    pair = qualification.active_pairs(book).get(query=document.query, doc_id=document.pair.doc_id)
    qualification.remove_pair(by=case.owner, pair=pair)
    with pytest.raises(ValidationError, match="needs 5 documents"):
        qualification.remove_pair(by=case.owner, pair=qualification.active_pairs(book).first())
    assert qualification.measure_progress(book=book, by=rater).left == 5
    assert answer_all(book, rater) == State.PASSED
    assert Rating.objects.filter(rater=rater).count() == 6


def test_new_grades_change_the_key_and_the_answers(case: Case) -> None:
    book, rater = switch_on(case), make_rater(case)
    answer_all(book, rater, wrong=2)
    remap(case)
    book.refresh_from_db()
    assert {pair.value for pair in qualification.active_pairs(book)} == {0, 1}
    assert set(QualificationAnswer.objects.values_list("value", flat=True)) == {0, 1}
    qualification.accept_rater(book=book, rater=rater, by=case.owner)
    assert Rating.objects.filter(rater=rater).count() == 6


@pytest.mark.parametrize("value", [4, 1.5, -1])
def test_grades_off_the_scale_are_refused(case: Case, value: float) -> None:
    book, rater = switch_on(case), make_rater(case)
    document = qualification.next_documents(book=book, by=rater, count=1)[0]
    with pytest.raises(ratings.InvalidRating):
        qualification.answer(query=document.query, doc_id=document.pair.doc_id, value=value, by=rater)
    with pytest.raises(ratings.InvalidRating):
        qualification.set_key(by=case.owner, pair=qualification.active_pairs(book).first(), value=value)


def test_a_book_with_qualification_is_not_merged_into_another(case: Case) -> None:
    switch_on(case)
    other = make_case(1, owner=case.owner)
    with pytest.raises(ValidationError, match="have to qualify"):
        books.merge_books(book=other.book, other=case.book, by=case.owner)


def test_what_editors_and_raters_do_is_in_the_log_of_the_case(case: Case) -> None:
    book, rater = switch_on(case), make_user("Cleo")
    Team.objects.get(name="Raters").memberships.create(user=rater, role=Role.RATER)
    first, *_ = qualification.active_pairs(book).order_by("pk")
    key = first.value
    for value in (3 - key, 3 - key, key):
        qualification.set_key(pair=first, value=value, by=case.owner)
    qualification.set_rule(book=book, share=80, distance=0, by=case.owner)  # nothing changes
    answer_all(book, rater, wrong=1)
    qualification.accept_rater(book=book, rater=make_user("Dora"), by=case.owner)
    qualification.remove_pair(pair=first, by=case.owner)
    qualification.set_rule(book=book, share=None, distance=0, by=case.owner)
    lines = Activity.objects.filter(case=case, verb__startswith="rating.qual") | Activity.objects.filter(
        case=case, verb__startswith="rating.rater"
    )
    document = f"{first.doc_id} for “{first.query}”"
    changed = f"Changed the qualification set of the book “{book}”:"
    rule = f"Changed the qualification of new raters of the book “{book}”:"
    assert [(line.by, describe(line)) for line in lines.order_by("pk")] == [
        (case.owner, f"{changed} 6 documents added"),
        (case.owner, f"{rule} 80 per cent have to agree with the key, by 0 at most"),
        (case.owner, f"{changed} key of {document} {key:g} → {3 - key:g}"),
        (case.owner, f"{changed} key of {document} {3 - key:g} → {key:g}"),
        (rater, f"Passed the qualification of the book “{book}”: 5 of 6 agree with the key"),
        (case.owner, f"Let the ratings of Dora count in the book “{book}”"),
        (case.owner, f"{changed} {document} removed"),
        (case.owner, f"{rule} off"),
    ]


def test_a_set_is_gone_with_the_book_that_is_merged(case: Case) -> None:
    book = switch_on(case)
    qualification.set_rule(book=book, share=None, distance=0, by=case.owner)
    other = make_case(1, owner=case.owner)
    assert books.preview_merge(book=other.book, other=book, by=case.owner).result.ratings == 6
    assert qualification.active_pairs(book).count() == 6
    books.merge_books(book=other.book, other=book, by=case.owner)
    assert not qualification.active_pairs(other.book).exists()
