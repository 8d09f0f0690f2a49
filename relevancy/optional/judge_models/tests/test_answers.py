"""Reading grades: nothing is guessed, nothing is clamped."""

import pytest

from relevancy.optional.judge_models.answers import UnreadableAnswer, parse_answer

SCALE = (0.0, 1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"grade": "2"}', 2),
        ('{"grade": 2}', 2),
        ('{"grade": 2.0}', 2),
        ('{"grade": " 0 "}', 0),
        ('Here: {"reason": "a {brace}", "grade": "3"} done {x}', 3),
        ('```json\n{"grade": "1"}\n```', 1),
        ('{"grade": "1"} {"grade": 1}', 1),
        ('{"thoughts": {"grade": "0"}, "grade": "3"}', 3),  # an object within another one is not the answer
    ],
)
def test_a_grade_of_the_scale(text: str, value: float) -> None:
    assert parse_answer(text, SCALE).value == value


@pytest.mark.parametrize(
    "grade",
    ["4", "-1", "2.5", '"4"', '"2.5"', '"relevant"', "true", "1e999", '"1e999"', '"nan"', "[2]", '{"value": 2}'],
)
def test_a_grade_off_the_scale_is_not_understood(grade: str) -> None:
    with pytest.raises(UnreadableAnswer, match="is not on the scale"):
        parse_answer(f'{{"reason": "r", "grade": {grade}}}', SCALE)


@pytest.mark.parametrize("grade", ['"cannot judge"', '"Cannot_Judge"', "null", "NaN"])
def test_cannot_judge_keeps_the_reason_of_the_model(grade: str) -> None:
    answer = parse_answer(f'{{"reason": "It is empty.", "grade": {grade}}}', SCALE)
    assert (answer.value, answer.reason) == (None, "It is empty.")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "It is empty"),
        ("I would give it a 2.", "begins “I would give it a 2.”"),
        ('{"rating": 2}', "no JSON object with a grade"),
        ('{"grade": "2"', "no JSON object with a grade"),
        ('[{"grade": "2"}, 3]{', ""),
        ('{"grade": "1"} or {"grade": "3"}', "several grades: 1, 3"),
        ('{"a":' * 5000, "no JSON object"),
        ("x" * 60_000, "60,000 characters"),
    ],
)
def test_an_answer_without_one_grade_is_an_error(text: str, message: str) -> None:
    if text.startswith("["):  # a list of one answer is an answer
        assert parse_answer(text, SCALE).value == 2
        return
    with pytest.raises(UnreadableAnswer, match=message):
        parse_answer(text, SCALE)


def test_characters_that_no_database_stores_are_replaced() -> None:
    assert parse_answer('{"reason": "a\\u0000b\\ud800", "grade": "1"}', SCALE).reason == "a\ufffdb\ufffd"


def test_fractions_and_labels_are_read_on_their_scale() -> None:
    assert parse_answer('{"grade": "0.5"}', (0.0, 0.5, 1.0)).value == 0.5
