"""Annotations of a case's history on the workbench."""

import pytest

from relevancy import cases
from relevancy.models import Annotation
from tests.factories import make_case, run_now

from .example_cases import HTMX, at, attributes, by_id, elements, make_workbench_case, tree, words


@pytest.fixture
def case(people, team, script):
    case = make_workbench_case(people, team)
    run_now(case.attempts.select_related("endpoint", "case").get())
    return case


def write(case, number, text):
    return cases.annotations.add(case=case, run=case.runs.get(number=number), text=text, by=case.owner)


def listed(answer):
    return [words(item) for item in elements(elements(tree(answer), cls="annotation-list")[0], _name="li")]


def test_add(sign_in, case):
    client = sign_in("editor")
    answer = client.post(at(case, "annotations"), {"at": "1", "text": "<b>Index</b> rebuilt"}, headers=HTMX)
    assert answer.status_code == 200
    (note,) = Annotation.objects.all()
    assert (note.run.number, note.text, note.created_by.name) == (1, "<b>Index</b> rebuilt", "Editor")
    assert attributes(by_id(answer, "case-score"))["hx-swap-oob"] == "true"
    (flag,) = elements(by_id(answer, "case-score"), cls="flag-text")
    assert words(flag) == "A"
    assert "<b>Index" not in answer.content.decode()


def test_add_refuses(sign_in, case):
    client = sign_in("editor")
    answer = client.post(at(case, "annotations"), {"at": "1", "text": "x" * 501}, headers=HTMX)
    assert answer.status_code == 422
    assert "501" in answer.content.decode()
    for number in ("99", "x", "", "9" * 30):
        answer = client.post(at(case, "annotations"), {"at": number, "text": "kept"})
        assert answer.status_code == 422
        assert "at" in answer.context["form"].errors
        assert attributes(by_id(answer, "annotate-text"))["value"] == "kept"
    assert not Annotation.objects.exists()


def test_the_page_and_the_chart_show_letters_in_the_order_of_runs(sign_in, case):
    write(case, 2, "later")
    write(case, 1, "earlier")
    client = sign_in("viewer")
    assert [item.split()[0] for item in listed(client.get(at(case, "annotations"), headers=HTMX))] == ["A", "B"]
    chart = elements(tree(client.get(at(case, "case"))), cls="chart")[0]
    assert [words(title) for title in elements(chart, _name="title") if words(title) in {"earlier", "later"}] == [
        "earlier",
        "later",
    ]
    assert "Annotations" in words(by_id(client.get(at(case, "case")), "case-score"))


def test_change_remove_and_undo(sign_in, case):
    client = sign_in("editor")
    note = write(case, 1, "tpyo")
    client.post(at(case, "annotation_change", note.pk), {"text": "typo"}, headers=HTMX)
    note.refresh_from_db()
    assert note.text == "typo"
    answer = client.post(at(case, "annotation_remove", note.pk), headers=HTMX)
    undo = at(case, "annotation_restore", note.pk)
    assert undo in answer["HX-Trigger"]
    assert elements(tree(answer), cls="annotation-list") == []
    client.post(undo, headers=HTMX)
    note.refresh_from_db()
    assert note.removed_at is None


def test_without_htmx(sign_in, case):
    client = sign_in("editor")
    page = client.get(at(case, "annotations", at=1)).content.decode()
    assert "<html" in page and 'hx-post="/cases' not in page.split("<main")[1]
    assert client.post(at(case, "annotations"), {"at": "1", "text": "x"})["Location"] == at(case, "case")
    note = Annotation.objects.get()
    assert client.post(at(case, "annotation_change", note.pk), {"text": "y"})["Location"] == at(case, "case")
    assert client.post(at(case, "annotation_remove", note.pk))["Location"] == at(case, "case")


def test_change_refuses_an_empty_one_and_one_of_another_case(sign_in, case, people):
    client = sign_in("editor")
    note = write(case, 1, "x")
    assert client.post(at(case, "annotation_change", note.pk), {"text": " "}, headers=HTMX).status_code == 409
    other = make_case(1, owner=people["editor"])
    assert client.post(at(other, "annotation_remove", note.pk), headers=HTMX).status_code == 404


@pytest.mark.parametrize(("who", "status"), [("rater", 403), ("viewer", 403), ("stranger", 404)])
def test_annotations_are_written_by_editors(sign_in, case, who, status):
    note = write(case, 1, "x")
    client = sign_in(who)
    assert client.post(at(case, "annotations"), {"at": "1", "text": "y"}).status_code == status
    for name in ("annotation_change", "annotation_remove", "annotation_restore"):
        assert client.post(at(case, name, note.pk), {"text": "y"}).status_code == status
    seen = client.get(at(case, "annotations"), headers=HTMX)
    if who == "stranger":
        assert seen.status_code == 404
    else:
        assert elements(tree(seen), _name="form", method="post") == []
    assert Annotation.objects.get().text == "x"
