"""The line that says what to do next, and the first steps of a new case."""

from datetime import timedelta

import pytest
from django.utils import timezone

from relevancy import ratings
from relevancy.models import Case, Run
from tests.factories import make_attempt, query_of, run_now

from .example_cases import at, by_id, finished, make_workbench_case, start, tree, words


@pytest.fixture
def case(people, team, script):
    return make_workbench_case(people, team)


def open_case(sign_in, case, who="owner"):
    return sign_in(who).get(at(case, "case"))


def test_a_case_without_queries_asks_for_some(sign_in, people, team, script):
    case = make_workbench_case(people, team, [], None, run=False)
    page = open_case(sign_in, case)
    assert page.context["next"].steps[0].id == "next-paste"
    assert "next-import" in [step.id for step in page.context["next"].steps]
    assert list(open_case(sign_in, case, "viewer").context["next"].steps) == []


def test_a_case_without_a_run_asks_for_one(sign_in, people, team, script):
    case = make_workbench_case(people, team, ["alien"], None, run=False)
    assert [step.id for step in open_case(sign_in, case).context["next"].steps] == ["next-run"]


def test_a_run_without_ratings_leads_to_rating_importing_and_inviting(sign_in, people, team, script):
    case = make_workbench_case(people, team, ["alien"], {})
    steps = {step.id: step.url for step in open_case(sign_in, case).context["next"].steps}
    assert list(steps) == ["next-rate", "next-import", "next-share"]
    assert steps["next-rate"].endswith(f"/queries/{case.case_queries.get().pk}/")
    assert [step.id for step in open_case(sign_in, case, "rater").context["next"].steps] == ["next-rate"]
    assert list(open_case(sign_in, case, "viewer").context["next"].steps) == []


def test_a_run_without_results_leads_to_another_run(sign_in, people, team, script):
    case = make_workbench_case(people, team, ["alien"], {})
    case.runs.update(status=Run.Status.FAILED, done=0)
    next_step = open_case(sign_in, case).context["next"]
    assert (next_step.why, [step.id for step in next_step.steps]) == ("Run 1 has no results.", ["next-run"])
    assert list(open_case(sign_in, case, "rater").context["next"].steps) == []


def test_one_run_leads_to_another_and_two_to_the_comparison(sign_in, case):
    assert "next-tune" in [step.id for step in open_case(sign_in, case).context["next"].steps]
    finished(start(case))
    steps = [step.id for step in open_case(sign_in, case).context["next"].steps]
    assert "next-compare" in steps
    assert "next-tune" not in steps


def test_every_step_is_a_link_below_the_score(sign_in, case):
    page = open_case(sign_in, case)
    line = by_id(page, "next")
    assert "Next:" in words(line)
    assert all(step.url for step in page.context["next"].steps)


def test_first_steps_of_a_new_case_are_for_its_owners(sign_in, case):
    page = open_case(sign_in, case, "owner")
    done = [tick.is_done for tick in page.context["ticks"]]
    assert done == [True, True, False, True]
    assert "Try a second attempt" in words(by_id(page, "ticks"))
    assert not open_case(sign_in, case, "rater").context["ticks"]
    Case.objects.update(created_at=timezone.now() - timedelta(days=31))
    assert not open_case(sign_in, case, "owner").context["ticks"]


def test_ratings_of_a_new_case_count_before_its_first_run(sign_in, people, team, script):
    case = make_workbench_case(people, team, 1, {"query 1": {"a": 3}}, run=False)
    assert [tick.is_done for tick in open_case(sign_in, case, "owner").context["ticks"]][:2] == [True, True]


def test_first_steps_can_be_hidden(sign_in, case):
    client = sign_in("owner")
    client.post(f"/ticks/case-{case.pk}/hide/", {"next": at(case, "case")})
    assert not client.get(at(case, "case")).context["ticks"]


def test_a_blind_rater_does_not_see_the_grades_of_others(sign_in, people, case):
    query = query_of(case, "query 1")
    ratings.rate(query=query, doc_id="a", value=1, by=people["editor"])
    pk = case.case_queries.get(query=query).pk
    client = sign_in("rater")
    opened = client.get(at(case, "case"), {"open": pk})
    (row,) = [row for row in opened.context["rows"] if row.case_query.pk == pk]
    assert all(result.grade is None and not result.others for result in row.results)
    assert {"unretrieved", "best"}.isdisjoint(tab.name for tab in row.tabs)
    ratings.rate(query=query, doc_id="a", value=1, by=people["rater"])
    opened = client.get(at(case, "case"), {"open": pk})
    (row,) = [row for row in opened.context["rows"] if row.case_query.pk == pk]
    assert [result.doc_id for result in row.results if result.grade is not None] == ["a"]
    seen = sign_in("editor").get(at(case, "case"), {"open": pk})
    assert seen.status_code == 200


def test_no_address_of_a_query_gives_away_grades_to_a_blind_rater(sign_in, people, case):
    query = query_of(case, "query 1")
    ratings.rate(query=query, doc_id="a", value=1, by=people["editor"])
    ratings.rate(query=query, doc_id="elsewhere", value=1, by=people["editor"])
    pk = case.case_queries.get(query=query).pk
    run_now(make_attempt(case))
    pages = [at(case, name, pk) for name in ("query_working", "query_unretrieved", "query_best_order")]
    pages += [f"{at(case, 'compare')}?open={pk}", f"{at(case, 'compare')}?best=1&open={pk}"]
    shown = [words(tree(sign_in("editor").get(page))) for page in pages]
    hidden = [words(tree(sign_in("rater").get(page))) for page in pages]
    for page, seen, unseen in zip(pages, shown, hidden, strict=True):
        assert seen != unseen, page
    assert all("before you have given yours" in text for text in hidden[:3])
    answers = [sign_in(who).get(pages[3]).context["opened"].documents for who in ("editor", "rater")]
    grades = [[document.result.grade for document in documents] for documents in answers]
    assert any(grade is not None for grade in grades[0]) and not any(grade is not None for grade in grades[1])
