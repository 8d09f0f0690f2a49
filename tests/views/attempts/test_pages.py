"""All attempts of a case as a tree: what changed, copies, and two of them to compare."""

import pytest
from django.core.exceptions import ValidationError

from relevancy import runs
from relevancy.models import Attempt, Run
from tests.factories import TEMPLATE, make_endpoint, rate_all, run_now
from tests.views.workbench.example_cases import at, attributes, by_id, elements, make_workbench_case, tree, words


@pytest.fixture
def case(people, team, script):
    """An attempt, one made from it, and a branch."""
    case = make_workbench_case(people, team)
    first = case.attempts.get()
    for template, fields in (
        ('{\n  "query": "#$query##",\n  "boost": ##boost##\n}', {"knobs": {"boost": 3}, "depth": 5}),
        (TEMPLATE, {"fields": "title", "depth": 10}),
    ):
        attempt = runs.attempts.save(
            case=case, endpoint=first.endpoint, template=template, parent=first, by=people["admin"], **fields
        )
        run_now(attempt)
    return case


def child(case, parent, **content):
    content = {"template": parent.template, "knobs": parent.knobs, "depth": parent.depth, **content}
    return runs.attempts.save(case=case, endpoint=parent.endpoint, parent=parent, by=case.owner, **content)


def listed(response):
    return [attributes(row)["data-attempt"] for row in elements(tree(response), _name="tr") if "id" in attributes(row)]


# --- what changed ---


def test_changes_of_knobs_settings_and_template(case):
    second = case.attempts.get(number=2)
    third = child(
        case, second, template=second.template.replace("##boost##", "##boost## "), knobs={"boost": 5}, depth=20
    )
    third.parent = second
    changes = runs.find_changes(third)
    assert changes.settings == ["boost 3 → 5", "results 5 → 20"]
    assert [(line.is_added, line.text) for line in changes.lines] == [
        (False, '  "boost": ##boost##'),
        (True, '  "boost": ##boost## '),
    ]
    first = case.attempts.select_related("endpoint").get(number=1)
    second.parent = first
    assert runs.find_changes(second).settings == ["new knob boost 3", "results 10 → 5"]
    text = child(case, second, knobs={"boost": "AUTO"})
    text.parent = second
    assert runs.find_changes(text).settings == ["boost 3 → AUTO"]
    first.parent = second
    assert runs.find_changes(first).settings == ["knob boost removed", "results 5 → 10"]
    second.parent = None
    assert not runs.find_changes(second).are_any


def test_every_setting_is_named(case):
    parent = case.attempts.select_related("endpoint").get(number=1)
    other = Attempt(parent=parent, endpoint=make_endpoint(case.owner), template="", fields="title", depth=10)
    other.escape = not parent.escape
    settings = runs.find_changes(other).settings
    assert [change.split(" ")[0] for change in settings][:2] == ["endpoint", "fields"]
    assert len(settings) == 3


def test_long_differences_are_cut(case):
    parent = case.attempts.select_related("endpoint").get(number=1)
    other = Attempt(parent=parent, endpoint=parent.endpoint, template="\n".join(map(str, range(100))), depth=10)
    other.escape = parent.escape
    changes = runs.find_changes(other)
    assert (len(changes.lines), changes.omitted) == (60, 41)


# --- the page ---


def test_tree_with_changes_author_score_and_note(sign_in, case):
    runs.attempts.describe(attempt=case.attempts.get(number=2), name="Boosted", note="Better <b>titles</b>")
    fourth = child(case, case.attempts.get(number=2), knobs={"boost": 7})
    response = sign_in("viewer").get(at(case, "attempt_list"))
    assert listed(response) == ["1", "3", "2", "4"]
    second = by_id(response, "attempt-2")
    assert "Boosted" in words(second)
    assert "Better <b>" not in response.content.decode()
    assert "new knob boost 3" in words(second)
    assert words(elements(second, _name="ins")[0]) == "{"
    assert "from 1" in words(second)
    assert "made into 4" in words(second)
    assert case.owner.name in words(second)
    assert elements(second, cls="score")
    assert elements(second, cls="indent-1")
    assert elements(by_id(response, f"attempt-{fourth.number}"), cls="indent-2")
    assert "no score" in words(by_id(response, "attempt-4"))
    assert "Duplicate" not in response.content.decode()
    assert "Duplicate" in sign_in("editor").get(at(case, "attempt_list")).content.decode()


def test_a_score_that_is_being_rescored_is_no_number(sign_in, case):
    rate_all(case, {"query 1": {"b": 3}}, case.owner)
    response = sign_in("viewer").get(at(case, "attempt_list"))
    assert elements(tree(response), cls="score") == []
    assert words(by_id(response, "attempt-1")).count("being rescored") == 1


def test_more_than_sixty_attempts_stay_reachable(sign_in, case, django_assert_max_num_queries):
    parent = case.attempts.get(number=3)
    Attempt.objects.bulk_create(
        Attempt(
            case=case, number=number, parent=parent, endpoint=parent.endpoint, template=TEMPLATE, created_by=case.owner
        )
        for number in range(4, 80)
    )
    client = sign_in("editor")
    seen = []
    for page in (1, 2, 3):
        with django_assert_max_num_queries(12):
            seen += listed(client.get(at(case, "attempt_list", page=page)))
    assert sorted(map(int, seen)) == list(range(1, 80))
    pane = client.get(at(case, "case", attempt=1))
    assert words(elements(by_id(pane, "tune-header"), _name="h2")[0]) == "Attempt 1"
    assert attributes(by_id(pane, "all-attempts"))["href"] == at(case, "attempt_list")


def test_compare_two(sign_in, case):
    client = sign_in("viewer")
    address = at(case, "attempt_compare")
    newest = Run.objects.newest_for(case).filter(attempt__number=3)[0].number
    assert client.get(f"{address}?attempt=3&attempt=1")["Location"] == f"{at(case, 'compare')}?run=1&run={newest}"
    child(case, case.attempts.get(number=2), knobs={"boost": 7})
    for query, message in (
        ("", "0 are selected"),
        ("attempt=1", "1 is selected"),
        ("attempt=1&attempt=2&attempt=3", "3 are selected"),
        ("attempt=1&attempt=4", "Attempt 4 has no finished run"),
        ("attempt=1&attempt=x", "1 is selected"),
    ):
        response = client.get(f"{address}?{query}", follow=True)
        assert message in response.content.decode()
        assert listed(response)


def test_duplicate(sign_in, case):
    original = case.attempts.get(number=2)
    client = sign_in("editor")
    endpoint = original.endpoint
    endpoint.teams.add(*case.teams.all())
    response = client.post(at(case, "attempt_duplicate", 2))
    copy = case.attempts.get(number=4)
    assert response["Location"] == f"{at(case, 'case', attempt=4)}#tune"
    assert (copy.parent, copy.template, copy.knobs, copy.depth) == (original, original.template, {"boost": 3}, 5)
    assert (copy.name, copy.created_by.name) == ("Copy of Attempt 2", "Editor")
    # It has not been run: it is changed in place.
    assert child(case, copy, knobs={"boost": 9}) == copy
    assert client.post(at(case, "attempt_duplicate", 99)).status_code == 404


def test_a_copy_of_a_long_name_is_cut(case):
    original = case.attempts.select_related("case", "endpoint").get(number=2)
    original.name = "x" * 120
    assert runs.attempts.duplicate(attempt=original, by=case.owner).name == f"Copy of {'x' * 112}"


def test_duplicate_needs_the_endpoint(sign_in, case, people):
    original = case.attempts.select_related("case", "endpoint").get(number=2)
    with pytest.raises(ValidationError, match="is not an editor"):
        runs.attempts.duplicate(attempt=original, by=people["viewer"])
    assert case.attempts.count() == 3
