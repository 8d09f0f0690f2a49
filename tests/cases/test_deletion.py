"""Tests of deleting a case for good."""

import pytest
from django.core.exceptions import ValidationError

from relevancy import cases, ratings, scorers
from relevancy.models import (
    Annotation,
    Attempt,
    Book,
    Case,
    CaseScore,
    Query,
    QueryScore,
    Ranking,
    Rating,
    RatingChange,
    Run,
    RunComparison,
    Scorer,
    ScorerDefinition,
)
from tests.factories import make_attempt, make_case, make_user, run_now

OF_A_CASE = (Annotation, Attempt, CaseScore, QueryScore, Ranking, Run, RunComparison)


@pytest.fixture
def case(db, script):
    case = make_case(("star wars", "star trek"))
    attempt = make_attempt(case)
    for query in case.book.queries.all():
        ratings.rate(query=query, doc_id="a", value=3, by=case.owner)
    first, _ = run_now(attempt), run_now(attempt)
    Annotation.objects.create(case=case, run=first, text="New documents", created_by=case.owner)
    definition = ScorerDefinition(measure="P@5", scale=case.book.scale)
    scorers.create_for_case(case=case, name="Mine", definition=definition, by=case.owner)
    return case


def test_losses(case):
    losses = cases.losses(case=case, by=case.owner)
    assert (losses.queries, losses.attempts, losses.runs, losses.annotations) == (2, 1, 2, 1)
    assert (losses.scorers, losses.ratings, losses.other_cases, losses.can_delete_book) == (("Mine",), 2, (), True)
    assert not cases.losses(case=case, by=make_user()).can_delete_book


def test_delete_keeps_the_book(case):
    cases.delete(case=case, by=case.owner)
    for model in (Case, *OF_A_CASE):
        assert not model.objects.exists(), model
    assert not Scorer.objects.filter(name="Mine").exists()
    assert (Book.objects.count(), Query.objects.count(), Rating.objects.count()) == (1, 2, 2)


def test_delete_with_the_book(case):
    ratings.undo(case=case, by=case.owner)
    cases.delete(case=case, by=case.owner, with_book=True)
    for model in (Case, *OF_A_CASE, Book, Query, Rating, RatingChange):
        assert not model.objects.exists(), model


def test_delete_leaves_other_cases_of_the_book_alone(case):
    other = cases.create(name="Other", owner=case.owner, book=case.book)
    attempt = make_attempt(other)
    losses = cases.losses(case=case, by=case.owner)
    assert (losses.other_cases, losses.can_delete_book) == (("Other",), False)
    with pytest.raises(ValidationError):
        cases.delete(case=case, by=case.owner, with_book=True)
    assert Case.objects.get(pk=case.pk).archived_at is None
    cases.delete(case=case, by=case.owner)
    assert list(Case.objects.all()) == [other]
    assert list(Attempt.objects.all()) == [attempt]
    assert Rating.objects.count() == 2


def test_delete_does_not_take_a_book_of_someone_else(case):
    Book.objects.update(owner=make_user())
    with pytest.raises(ValidationError):
        cases.delete(case=case, by=case.owner, with_book=True)
    assert Run.objects.count() == 2


@pytest.mark.parametrize("status", ["waiting", "running"])
def test_delete_refuses_while_a_run_is_active(case, status):
    Run.objects.filter(number=2).update(status=status)
    with pytest.raises(ValidationError, match="Run 2"):
        cases.delete(case=case, by=case.owner)
    assert (Case.objects.get().archived_at, Run.objects.count()) == (None, 2)
