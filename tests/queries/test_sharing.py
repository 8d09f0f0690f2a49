"""Linked queries that share their ratings: a rating of one is a rating of all, and nothing is lost when they stop."""

import csv
import random

import pytest

from relevancy import judgments, queries, scores, transfer
from relevancy.models import CaseScore, Query, QueryScore, Rating, Run, ScorerVersion
from tests.factories import (
    as_values,
    make_attempt,
    make_case,
    make_user,
    query_of,
    rescore,
    run_now,
    script_of,
    stored_scores,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def case():
    return make_case(4, {"query 1": {"a": 3, "b": 1}, "query 2": {"c": 2}, "query 3": {"a": 1}})


@pytest.fixture
def two_runs(case, script):
    """The case with two runs, whose scores are stored."""
    attempt = make_attempt(case)
    script_of(attempt).default = "abc"
    runs = [run_now(attempt), run_now(attempt)]
    assert scores.rescore_case(case, seconds=60)
    return runs


def share(case, *numbers):
    linked = [query_of(case, f"query {number}") for number in numbers]
    link = queries.link(queries=linked)
    assert queries.set_sharing(query_link=link, shares_ratings=True)
    return link


def grades(case, number):
    """The grades of a query, which the two ways to read them agree on."""
    query = query_of(case, f"query {number}")
    known = scores.known_grades(case.book, [query.pk])[query.pk]
    assert scores.QueryRatings.read(query.pk).grades(query.book) == known
    return known


def rate(case, number, doc_id, value, by):
    return judgments.rate(query=query_of(case, f"query {number}"), doc_id=doc_id, value=value, by=by)


def everything(case):
    """All scores of the case as they would be computed now."""
    stored = {}
    for run in Run.objects.filter(case=case).select_related("case__book"):
        scores.rescore_run(run)
        stored[run.number] = stored_scores(run)
    return stored


def test_a_rating_of_one_query_is_a_rating_of_all(case):
    share(case, 1, 2)
    assert grades(case, 1) == grades(case, 2) == {"a": 3, "b": 1, "c": 2}
    assert grades(case, 3) == {"a": 1}
    other = make_user()
    rate(case, 2, "d", 1, other)
    assert grades(case, 1)["d"] == grades(case, 2)["d"] == 1
    assert Rating.objects.filter(doc_id="d").count() == 1


def test_the_newest_rating_of_a_rater_counts_and_the_older_one_after_unlinking(case):
    rate(case, 3, "a", 2, case.owner)
    share(case, 1, 3)
    assert grades(case, 1)["a"] == grades(case, 3)["a"] == 2
    queries.unlink(query=query_of(case, "query 1"))
    assert (grades(case, 1)["a"], grades(case, 3)["a"]) == (3, 2)


def test_ratings_of_several_raters_are_combined_by_the_rule_of_the_book(case):
    case.book.rule = "mean"
    case.book.save(update_fields=["rule"])
    rate(case, 2, "a", 0, make_user())
    share(case, 1, 2)
    assert grades(case, 1)["a"] == grades(case, 2)["a"] == 1.5


def test_an_adjudication_counts_for_all_and_the_newest_of_several(case):
    judge = make_user()
    judgments.adjudicate(query=query_of(case, "query 1"), doc_id="a", value=0, by=judge)
    judgments.adjudicate(query=query_of(case, "query 3"), doc_id="a", value=2, by=make_user())
    share(case, 1, 2, 3)
    rate(case, 2, "a", 3, make_user())
    assert [grades(case, number)["a"] for number in (1, 2, 3)] == [2, 2, 2]


def test_changing_and_removing_a_rating_works_from_every_query(case):
    share(case, 1, 2, 3)
    rate(case, 2, "a", 0, case.owner)  # replaces the newest, that of query 3
    assert [grades(case, number)["a"] for number in (1, 2, 3)] == [0, 0, 0]
    assert set(Rating.objects.filter(doc_id="a").values_list("query__text", "value")) == {
        ("query 1", 3),
        ("query 3", 0),
    }
    result = judgments.remove(query=query_of(case, "query 2"), doc_ids=["a"], by=case.owner)
    assert result == 2
    assert not any("a" in grades(case, number) for number in (1, 2, 3))


def test_undo_restores_what_was_shared(case):
    share(case, 1, 2)
    rate(case, 2, "a", 0, case.owner)
    assert judgments.undo(by=case.owner, case=case).undone
    assert grades(case, 1)["a"] == grades(case, 2)["a"] == 3
    judgments.remove(query=query_of(case, "query 2"), doc_ids=["a"], by=case.owner)
    assert "a" not in grades(case, 1)
    judgments.undo(by=case.owner, case=case)
    assert grades(case, 1)["a"] == grades(case, 2)["a"] == 3


def test_no_score_of_the_case_is_current_until_all_queries_that_share_a_rating_are_scored(case, two_runs):
    """A rating scores its own query at once; a worker scores those that share it."""
    share(case, 1, 2)
    assert scores.rescore_case(case, seconds=60)
    baseline, run = two_runs
    query = query_of(case, "query 1")
    version = ScorerVersion.objects.used_by(case)[0]
    judgments.rate(query=query, doc_id="c", value=3, by=make_user())
    rescore(run, query.pk, baseline=baseline)
    assert CaseScore.objects.get(run=run, version=version).revision is None
    assert scores.compare_runs(run, baseline, version).pending == 1
    assert scores.rescore_case(case, seconds=60)
    revisions = dict(Query.objects.values_list("pk", "revision"))
    stored = list(QueryScore.objects.filter(run__in=two_runs, version=version))
    assert all(row.revision == revisions[row.query_id] for row in stored)
    assert CaseScore.objects.get(run=run, version=version).revision is not None
    assert not scores.compare_runs(run, baseline, version).pending


def test_an_import_for_one_query_counts_for_all(case):
    share(case, 1, 2)
    before = dict(Query.objects.values_list("text", "revision"))
    rater = make_user()
    judgments.import_ratings(
        book=case.book,
        values=as_values({"query 1": {"z": 2}}),
        rater=rater,
        by=rater,
        case=case,
        with_it=lambda ids: None,
    )
    assert grades(case, 2)["z"] == 2
    after = dict(Query.objects.values_list("text", "revision"))
    assert after["query 2"] > before["query 2"] and after["query 3"] == before["query 3"]
    # Ratings that are not rows yet are moved before one of them changes.
    judgments.rate(query=query_of(case, "query 2"), doc_id="z", value=1, by=rater)
    assert grades(case, 1)["z"] == grades(case, 2)["z"] == 1


def test_linking_sharing_and_unlinking_restore_every_score(case, two_runs):
    generator = random.Random(4)
    raters = [case.owner, make_user(), make_user()]
    for _ in range(6):
        rate(case, generator.randint(1, 4), generator.choice("abc"), generator.randint(0, 3), generator.choice(raters))
    before = everything(case)
    for numbers in ((1, 2), (1, 2, 3, 4), (2, 4)):
        share(case, *numbers)
        assert everything(case) != before
        for number in numbers:
            queries.unlink(query=query_of(case, f"query {number}"))
        assert everything(case) == before
    link = share(case, 1, 3)
    queries.set_sharing(query_link=link, shares_ratings=False)
    assert everything(case) == before


def test_preview_says_what_sharing_changes(case):
    rate(case, 3, "b", 1, make_user())
    linked = [query_of(case, f"query {number}") for number in (1, 3)]
    link = queries.link(queries=linked)
    result = queries.preview_sharing(query_link=link, queries=linked)
    assert [(item.doc_id, list(item.before), item.after) for item in result] == [("a", [3, 1], 1)]
    queries.set_sharing(query_link=link, shares_ratings=True)
    assert grades(case, 1)["a"] == 1
    assert not queries.set_sharing(query_link=link, shares_ratings=True)


def test_the_export_of_a_book_lists_each_rating_once_with_the_grade_that_counts(case):
    rate(case, 3, "a", 2, case.owner)
    share(case, 1, 3)
    rows = list(csv.DictReader("".join(transfer.book_ratings_csv.export_book_ratings(book=case.book)).splitlines()))
    result = [(row["query"], row["docid"], row["grade"], row["rating"]) for row in rows if row["docid"] == "a"]
    assert result == [("query 1", "a", "2", "3"), ("query 3", "a", "2", "2")]
