"""Annotations of a case's history."""

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from relevancy import scores
from relevancy.cases import annotations
from relevancy.models import Annotation, Case, Run
from relevancy.models.errors import error_fields
from tests.factories import make_attempt, make_case, run_now

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture
def case() -> Case:
    """A case with three runs, each with a score."""
    case = make_case(["a"], {"a": {"a": 3}})
    attempt = make_attempt(case)
    for _ in range(3):
        run_now(attempt)
    return case


def run_of(case: Case, number: int) -> Run:
    run: Run = case.runs.get(number=number)
    return run


def write(case: Case, number: int, text: str) -> Annotation:
    return annotations.add(case=case, run=run_of(case, number), text=text, by=case.owner)


def shown(case: Case) -> list[tuple[str, int | None, str]]:
    points = scores.recent_case_scores(case, case.case_scorers.get().version)
    return [(mark.letter, mark.point, mark.annotation.text) for mark in annotations.marks(case, points)]


def test_add_and_marks_in_the_order_of_runs(case: Case) -> None:
    write(case, 3, " new\n synonyms ")
    write(case, 1, "index rebuilt")
    write(case, 3, "holiday")
    assert shown(case) == [("A", 0, "index rebuilt"), ("B", 2, "new synonyms"), ("C", 2, "holiday")]


def test_marks_without_a_point_have_no_letter(case: Case) -> None:
    for number in (1, 2, 3):
        write(case, number, f"at {number}")
    points = scores.recent_case_scores(case, case.case_scorers.get().version, limit=2)
    marks = annotations.marks(case, points)
    assert [(mark.letter, mark.point) for mark in marks] == [("", None), ("A", 0), ("B", 1)]
    assert [mark.letter for mark in annotations.marks(case)] == ["", "", ""]


def test_marks_cost_one_statement(case: Case) -> None:
    for number in (1, 2, 3):
        write(case, number, f"at {number}")
    with CaptureQueriesContext(connection) as captured:
        statements = [
            f"{mark.annotation.run.number} {mark.annotation.created_by.name}" for mark in annotations.marks(case, [])
        ]
    assert len(statements) == 3
    assert len(captured) == 1


def test_change(case: Case) -> None:
    note = write(case, 2, "tpyo")
    annotations.change(annotation=note, text="typo ")
    assert shown(case) == [("A", 1, "typo")]
    with pytest.raises(ValidationError):
        annotations.change(annotation=note, text=" ")
    assert shown(case) == [("A", 1, "typo")]


def test_remove_and_restore(case: Case) -> None:
    first, second = write(case, 1, "one"), write(case, 2, "two")
    annotations.remove(annotation=first)
    assert shown(case) == [("A", 1, "two")]
    annotations.restore(annotation=first)
    assert shown(case) == [("A", 0, "one"), ("B", 1, "two")]
    assert second.removed_at is None


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "blank"), (" \n", "blank"), ("x" * 501, "501"), ("a\0b", "U\\+0000"), ("\ud800", "D800")],
)
def test_add_refuses(case: Case, text: str, why: str) -> None:
    with pytest.raises(ValidationError, match=why) as caught:
        write(case, 1, text)
    assert error_fields(caught.value) == ["text"]
    assert not Annotation.objects.exists()


def test_add_to_a_run_of_another_case(case: Case) -> None:
    other = make_case(["a"])
    with pytest.raises(ValidationError, match="Run 1 does not belong"):
        annotations.add(case=other, run=run_of(case, 1), text="x", by=case.owner)


def test_add_more_than_a_page_lists(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(annotations, "MAX_ANNOTATIONS", 1)
    note = write(case, 1, "x")
    with pytest.raises(ValidationError, match="Remove some of them"):
        write(case, 1, "y")
    annotations.remove(annotation=note)
    write(case, 1, "y")


@pytest.mark.parametrize(
    ("position", "word"),
    [(0, "A"), (25, "Z"), (26, "AA"), (27, "AB"), (51, "AZ"), (52, "BA"), (701, "ZZ"), (702, "AAA")],
)
def test_letter(position: int, word: str) -> None:
    assert annotations.letter(position) == word
