"""Attempts in the tune pane: shown with their last run, named, archived and restored."""

import json

import pytest

from relevancy import runs
from relevancy.models import Attempt
from tests.factories import run_now

from .example_cases import HTMX, SCRIPT, at, attributes, by_id, elements, make_workbench_case, tree, words


@pytest.fixture
def case(people, team, script):
    """Three attempts, each run once; the second and the third are made from the first."""
    case = make_workbench_case(people, team)
    first = case.attempts.get()
    for depth in (5, 7):
        run_now(
            runs.attempts.save(
                case=case,
                endpoint=first.endpoint,
                template=first.template,
                depth=depth,
                parent=first,
                by=people["admin"],
            )
        )
    return case


def numbers(response):
    return [attributes(node)["data-attempt"] for node in elements(by_id(response, "attempts"), cls="attempt")]


def links(part):
    return [attributes(link).get("href") for link in elements(part, _name="a")]


def test_attempt_chosen_beside_another_run_offers_its_last_run(sign_in, case):
    client = sign_in("editor")
    last_run = at(case, "case", run=1, attempt=1)
    assert last_run not in links(by_id(client.get(at(case, "case")), "tune-header"))
    assert last_run in links(by_id(client.get(at(case, "case", attempt=1)), "tune-header"))
    assert last_run in links(by_id(client.get(at(case, "case")), "attempts"))
    page = client.get(last_run)
    assert last_run not in links(by_id(page, "tune-header"))
    assert words(elements(by_id(page, "tune-header"), _name="h2")[0]) == "Attempt 1"
    assert "Run 1 · attempt 1" in words(by_id(page, "case-score"))


def test_filled_dot_of_the_chart_is_the_run_shown(sign_in, case):
    client = sign_in("viewer")
    for number in (1, 2, 3):
        chart = elements(by_id(client.get(at(case, "case", run=number)), "case-score"), _name="figure")[0]
        (filled,) = elements(chart, cls="now")
        assert words(filled).startswith(f"Run {number} ")


def test_attempt_is_named_and_noted(sign_in, case):
    client = sign_in("editor")
    response = client.post(
        at(case, "attempt_edit", 2), {"name": f" B{SCRIPT} ", "note": "Too shallow\r\n"}, headers=HTMX
    )
    attempt = case.attempts.get(number=2)
    assert (attempt.name, attempt.note, attempt.depth) == (f"B{SCRIPT}", "Too shallow", 5)
    assert words(elements(by_id(response, "tune-header"), _name="h2")[0]) == "Attempt 2"
    assert f"B{SCRIPT}".replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;") in response.content.decode()
    assert client.post(at(case, "attempt_edit", 2), {"name": "C"}).headers["Location"] == at(case, "case", attempt=2)


@pytest.mark.parametrize("sent", [{"name": "x" * 121}, {"name": "a", "note": "x" * 2001}, {"name": "a", "note": "\0"}])
def test_attempt_details_refused_stay_typed(sign_in, case, sent):
    response = sign_in("editor").post(at(case, "attempt_edit", 1), sent, headers=HTMX)
    assert response.status_code == 422
    assert elements(tree(response), cls="bad")
    assert case.attempts.get(number=1).name == ""


def test_archived_attempt_leaves_the_tree_and_stays_reachable(sign_in, case):
    client = sign_in("editor")
    response = client.post(at(case, "attempt_archive", 3), headers=HTMX)
    toast = json.loads(response.headers["HX-Trigger"])["toast"]
    assert toast["undo"] == at(case, "attempt_restore", 3)
    page = client.get(at(case, "case"))
    assert numbers(page) == ["2", "1"]
    assert words(elements(by_id(page, "tune-header"), _name="h2")[0]) == "Attempt 2"
    assert at(case, "case", run=3, attempt=3) in links(by_id(page, "attempts"))
    assert attributes(by_id(page, "tune-header"))["data-draft-title"] == "Attempt 4", "No number is given twice."
    assert "archived" in words(by_id(client.get(at(case, "case", attempt=3)), "tune-header"))
    client.post(toast["undo"], headers=HTMX)
    assert numbers(client.get(at(case, "case"))) == ["3", "2", "1"]


def test_archived_attempt_keeps_the_score_of_its_last_run(sign_in, case):
    def score():
        attempts = by_id(client.get(at(case, "case")), "attempts")
        (link,) = elements(attempts, _name="a", href=at(case, "case", run=3, attempt=3))
        return words(link)

    client = sign_in("editor")
    before = score()
    client.post(at(case, "attempt_archive", 3), headers=HTMX)
    assert float(score()) == float(before) > 0


def test_last_attempt_that_is_listed_is_not_archived(sign_in, case):
    client = sign_in("editor")
    for number in (1, 2):
        client.post(at(case, "attempt_archive", number), headers=HTMX)
    response = client.post(at(case, "attempt_archive", 3), headers=HTMX)
    assert response.status_code == 409
    assert "only one that is not archived" in response.content.decode()
    assert list(Attempt.objects.filter(case=case, archived_at=None).values_list("number", flat=True)) == [3]


def test_attempt_of_another_case_is_not_found(sign_in, case, people, team, script):
    client, other = sign_in("editor"), make_workbench_case(people, team)
    for name in ("attempt_edit", "attempt_archive", "attempt_restore"):
        assert client.post(at(other, name, 3)).status_code == 404
