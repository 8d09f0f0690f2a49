"""Tests of copies of whole cases."""

import pytest
from django.core.exceptions import ValidationError

from relevancy import cases, queries, ratings, scorers, scores
from relevancy.models import Attempt, Case, Rating, RatingChange, Scorer, ScorerDefinition
from relevancy.runs import attempts
from tests.factories import make_attempt, make_case, make_endpoint, make_user

TEXTS = ("star wars", "star trek", "alien")


@pytest.fixture
def case(db, script):
    case = make_case(TEXTS)
    for number, query in enumerate(case.book.queries.order_by("pk")[:2]):
        ratings.rate(query=query, doc_id="a", value=number + 2, by=case.owner)
    Rating.objects.update(note="why")
    return case


def grades(case):
    query_ids = case.case_queries.present().values_list("query_id", flat=True)
    known = scores.known_grades(case.book, query_ids)
    texts = dict(case.book.queries.values_list("pk", "text"))
    return {texts[pk]: documents for pk, documents in known.items() if documents}


def duplicate(case, by=None, *, name="Copy", ratings="copy", with_attempts=True):
    return cases.duplicate(case=case, name=name, ratings=ratings, with_attempts=with_attempts, by=by or case.owner)


def test_duplicate_copies_queries_in_order_with_what_belongs_to_them(case):
    case_queries = list(case.case_queries.select_related("query"))
    queries.move(case=case, by=case.owner, case_query=case_queries[2], before=case_queries[0])
    case_queries[1].options, case_queries[1].weight = {"a": 1}, 3.0
    case_queries[1].save()
    query = case_queries[1].query
    query.tags, query.notes, query.information_need = ["x"], "note", "need"
    query.reference_answer = "answer"
    query.save()
    copied = duplicate(case).case.case_queries.select_related("query").order_by("position")
    original = case.case_queries.select_related("query").order_by("position")
    content = [
        (e.query.text, e.options, e.weight, e.query.tags, e.query.notes, e.query.information_need) for e in original
    ]
    assert [
        (e.query.text, e.options, e.weight, e.query.tags, e.query.notes, e.query.information_need) for e in copied
    ] == content
    assert [text for text, *_ in content] == ["alien", "star wars", "star trek"]
    assert [e.query.reference_answer for e in copied] == [e.query.reference_answer for e in original]


def test_duplicate_keeps_links_between_its_queries(case):
    first, second, third = case.book.queries.order_by("pk")
    queries.link(queries=[first, second, third])
    queries.remove(case_query=case.case_queries.get(query=second))
    copy = duplicate(case).case
    (link,) = copy.book.query_links.all()
    assert set(link.queries.values_list("text", flat=True)) == {first.text, third.text}
    assert case.book.query_links.get().queries.count() == 3


def test_duplicate_leaves_removed_queries_out(case):
    queries.remove(case_query=case.case_queries.first())
    assert duplicate(case).case.case_queries.count() == 2


def test_duplicate_with_ratings_is_independent(case):
    copy = duplicate(case)
    assert copy.ratings == 2
    assert copy.case.book != case.book
    assert grades(copy.case) == grades(case) == {"star wars": {"a": 2.0}, "star trek": {"a": 3.0}}
    ratings.rate(query=copy.case.book.queries.first(), doc_id="a", value=1, by=case.owner)
    assert grades(case)["star wars"] == {"a": 2.0}
    first, second = Rating.objects.filter(query__text="star trek")
    assert (first.rater, first.note, first.updated_at) == (second.rater, second.note, second.updated_at)


def test_duplicate_logs_copied_ratings(case):
    rater = make_user()
    ratings.rate(query=case.book.queries.first(), doc_id="b", value=1, by=rater)
    copy = duplicate(case)
    log = RatingChange.objects.filter(query__book=copy.case.book, doc_id="b").get()
    assert (log.rater, log.by, log.source, log.old_value, log.new_value) == (rater, case.owner, "copy", None, 1.0)


def test_duplicate_copies_are_no_ratings_to_take_back_and_no_activity(case):
    copy = duplicate(case)
    assert ratings.last_change(case=copy.case, by=case.owner) is None
    sittings = [event for event in cases.recent_activity(case.owner) if event.kind == "ratings"]
    assert [(event.book, event.count) for event in sittings] == [(case.book.name, 2)]


def test_duplicate_without_ratings(case):
    copy = duplicate(case, ratings="none")
    assert (copy.ratings, grades(copy.case)) == (0, {})
    assert (copy.case.book.scale, copy.case.book.rule) == (case.book.scale, case.book.rule)
    assert copy.case.book.queries.count() == 3


def test_duplicate_with_the_same_book(case):
    copy = duplicate(case, ratings="share")
    assert copy.case.book == case.book
    assert grades(copy.case) == grades(case)
    assert case.book.queries.count() == 3


def test_duplicate_with_the_same_book_needs_a_role_on_it(case):
    stranger = make_user()
    with pytest.raises(ValidationError) as error:
        duplicate(case, stranger, ratings="share")
    assert "ratings" in error.value.message_dict
    assert Case.objects.count() == 1


def test_duplicate_copies_attempts_with_numbers_and_parents(case):
    first = make_attempt(case)
    second = Attempt.objects.create(
        case=case, number=2, parent=first, endpoint=first.endpoint, template="{}", created_by=case.owner
    )
    third = Attempt.objects.create(
        case=case, number=3, parent=second, endpoint=first.endpoint, template="{}", name="C", created_by=case.owner
    )
    attempts.archive(attempt=second)
    copies = duplicate(case).case.attempts.order_by("number")
    assert [(a.number, a.parent and a.parent.number, a.template, a.name) for a in copies] == [
        (1, None, first.template, first.name),
        (3, 1, third.template, "C"),
    ]
    assert {a.created_by for a in copies} == {case.owner}
    assert not duplicate(case, with_attempts=False, name="None").case.attempts.exists()


def test_duplicate_leaves_out_attempts_whose_endpoint_may_not_be_used(case):
    make_attempt(case)
    foreign = make_endpoint(make_user())
    Attempt.objects.create(case=case, number=9, endpoint=foreign, template="{}", created_by=case.owner)
    copy = duplicate(case)
    assert copy.left_out == ["attempt 9"]
    assert [attempt.number for attempt in copy.case.attempts.all()] == [1]


def test_duplicate_keeps_scorer_versions_and_leaves_out_scorers_of_one_case(case):
    definition = ScorerDefinition(measure="P@5", scale=case.book.scale)
    own = scorers.create_for_case(case=case, name="Mine", definition=definition, by=case.owner, primary=True)
    copy = duplicate(case)
    assert copy.left_out == [own.name]
    kept = {row.scorer: row.version for row in case.case_scorers.all() if row.scorer != own}
    assert {row.scorer: row.version for row in copy.case.case_scorers.all()} == kept
    assert Scorer.objects.filter(only_for=copy.case).count() == 0


def test_duplicate_belongs_to_who_made_it_and_is_shared_with_nobody(case):
    other = make_user()
    copy = duplicate(case, other).case
    assert (copy.owner, copy.book.owner, list(copy.teams.all()), list(copy.book.teams.all())) == (other, other, [], [])
    assert not Case.objects.visible_to(case.owner).filter(pk=copy.pk).exists()


def test_duplicate_needs_a_name(case):
    with pytest.raises(ValidationError) as error:
        duplicate(case, name="")
    assert "name" in error.value.message_dict
    assert Case.objects.count() == 1
