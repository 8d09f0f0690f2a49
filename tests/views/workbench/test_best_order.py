"""The tab “Best order” of an opened query, in a case with a single run."""

import pytest

from relevancy.models import CaseScorer, QueryScore
from tests.factories import make_scorer

from .example_cases import HTMX, at, by_id, case_query_of, elements, make_workbench_case, set_hits, tree, words


@pytest.fixture
def case(people, team, script):
    """Of query 1, the best document is the last result, and another rated one was not returned."""
    case = make_workbench_case(people, team, ratings={"query 1": {"a": 3, "far": 2}}, measures=("nDCG@10",))
    set_hits(case.runs.get(), "query 1", ["x", "y", ("a", {"id": "a", "title": "Alien"})])
    return case


def ask(client, case, text="query 1", headers=HTMX, **query):
    return client.get(at(case, "query_best_order", case_query_of(case, text).pk, **query), headers=headers)


def side(response, name):
    (element,) = elements(tree(response), **{"data-side": name})
    return [words(item) for item in elements(element, _name="li")]


@pytest.mark.parametrize("headers", [HTMX, {}])
def test_both_lists_with_scores_and_gap(sign_in, case, headers):
    response = ask(sign_in("viewer"), case, headers=headers)
    assert [item.split()[0] for item in side(response, "before")] == ["1", "2", "3"]
    best = side(response, "after")
    assert len(best) == 2
    assert best[0].startswith("1 3")
    assert best[1].startswith("2 2 far"), "Of a document that no run returned, only the id is known."
    text = words(by_id(response, f"best-order-{case_query_of(case, 'query 1').pk}"))
    stored = QueryScore.objects.get(run__case=case, query__text="query 1")
    assert (round(stored.ideal, 1), stored.score < stored.ideal) == (100.0, True)
    assert f"nDCG@10: {stored.score:.1f} → 100.0 in the best order. It could gain {100 - stored.score:.1f}" in text
    assert "A better order of what Run 1 fetched gains" in text


def test_a_script_has_none(sign_in, case):
    script = make_scorer("", "count", script="setScore(1)")
    CaseScorer.objects.filter(case=case).delete()
    CaseScorer.objects.create(case=case, scorer=script, version=script.versions.get(), position=0)
    response = ask(sign_in("viewer"), case)
    assert "count is a script, so its best order is not known." in words(tree(response))
    assert not elements(tree(response), **{"data-side": "after"})


def test_a_query_without_ratings(sign_in, case):
    response = ask(sign_in("viewer"), case, "query 3")
    assert "No document is rated that the best order could consist of." in words(tree(response))


def test_a_query_that_was_not_searched_is_not_found(sign_in, case):
    case.runs.get().rankings.filter(query__text="query 2").update(error_kind="timeout", error="Too slow")
    assert ask(sign_in("viewer"), case, "query 2").status_code == 404
